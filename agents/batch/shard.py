"""A shard of a batch for one of several machines, the same however the batch is ordered."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from ..errors import UsageError


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `index` (from 1) of `count`: of all shards of one count, each key is in exactly one."""

    index: int
    count: int

    def in_shard(self, key: str) -> bool:
        """Return True if the entries of `key` are this shard's, by its hash alone."""
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.index - 1


def parse_shard(text: str) -> Shard:
    """Read a shard such as `2/5`. Raises UsageError."""
    match = re.fullmatch(r"\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\s*", text)
    index, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= index <= count:
        raise UsageError(f"`{text[:40]}` is no shard; write i/n with i from 1 to n, such as 2/5.")
    return Shard(index, count)
