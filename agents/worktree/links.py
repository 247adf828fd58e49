"""Finds the paths that symbolic links in a folder add, to files and into folders there."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Collection, Mapping

MOST_LINKS = 5
"""Links or symbolic references that are followed in a row, as git does."""
_MOST_PATHS = 20_000


def behind_links(links: Mapping[str, str], files: Collection[str]) -> dict[str, str]:
    """Return the paths of `files` through `links` (path -> target), each with its file. Links behind a link to a
    folder are not followed, so that there are no cycles."""
    found: dict[str, str] = {}
    known = set(files) - links.keys()
    ordered = sorted(known)
    for path in links:
        target = path
        for _ in range(MOST_LINKS):
            if target in links:
                target = posixpath.normpath(posixpath.join(posixpath.dirname(target), links[target]))
        if target in known:
            found[path] = target
        at = bisect_left(ordered, f"{target}/")
        while at < len(ordered) and ordered[at].startswith(f"{target}/") and len(found) < _MOST_PATHS:
            found[f"{path}{ordered[at].removeprefix(target)}"] = ordered[at]
            at += 1
    return found
