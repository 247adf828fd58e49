"""Precomputes hypothesis's tables of characters, which would take each test process seconds."""

from __future__ import annotations

import gzip
import json
import sys
import unicodedata
from collections.abc import Mapping
from functools import cache
from itertools import groupby

from .inside.proxy.frames import STORAGE


@cache
def hypothesis_tables() -> Mapping[str, bytes]:
    """Return hypothesis's cache files (gzipped JSON) by their paths in a job: for each Unicode category its ranges
    of code points; for a codec those that it encodes, and those that do not round-trip."""
    utf8 = [(0, 0xD7FF), (0xE000, sys.maxunicode)]  # all but surrogates
    ranges: dict[str, list[tuple[int, int]]] = {}
    for category, points in groupby(range(sys.maxunicode + 1), lambda point: unicodedata.category(chr(point))):
        found = list(points)
        ranges.setdefault(category, []).append((found[0], found[-1]))
    tables = {
        "charmap": sorted(ranges.items()),
        "codec-v2-utf-8": [utf8, []],
        "codec-v2-ascii": [[(0, 127)], []],
    }
    folder = f"{STORAGE}/unicode_data/{unicodedata.unidata_version}"
    return {
        f"{folder}/{name}.json.gz": gzip.compress(json.dumps(table).encode(), mtime=1)
        for name, table in tables.items()
    }
