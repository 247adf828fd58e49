"""Picks a user id that nobody on this machine has, for code that root runs."""

from __future__ import annotations

import random
from pathlib import Path

# systemd's list of user id ranges calls this one unused: https://systemd.io/UIDS-GIDS/
_UNUSED = range(0x70000000, 0x7FFFFFFF)
_RANDOM = random.SystemRandom()


def spare_uid(uid_map: Path = Path("/proc/self/uid_map")) -> int:
    """Return a random id from a range in use by nobody; in a user namespace that maps fewer, one near its top.

    A new one for each job: the kernel counts processes by user, and two jobs have nothing to do with each other.
    """
    entries = (map(int, line.split()) for line in uid_map.read_text().splitlines())
    mapped = [range(start, start + count) for start, _, count in entries]
    if any(_UNUSED.start in ids and _UNUSED[-1] in ids for ids in mapped):
        return _RANDOM.choice(_UNUSED)
    largest = max(mapped, key=len)
    top = min(largest.stop, 65534)  # 65534 is nobody, which other services use
    return _RANDOM.randrange(max(largest.start, top - 4000, 1), max(top, 2))
