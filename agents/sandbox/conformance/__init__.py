"""The attacks that a sandbox must stop, each a real program with a judge outside.

Every attack is tried without a sandbox first: one that does not work there proves nothing here. All of them are
bounded (processes, bytes, seconds) and clean up after themselves, as the unprotected try runs for real.
"""

from __future__ import annotations

from .attack import Attack, Trial
from .attacks_on_files import ATTACKS as _ON_FILES
from .attacks_on_network import ATTACKS as _ON_NETWORK
from .attacks_on_processes import ATTACKS as _ON_PROCESSES
from .attacks_on_resources import ATTACKS as _ON_RESOURCES
from .bare import Bare

ATTACKS: tuple[Attack, ...] = tuple(
    sorted((*_ON_FILES, *_ON_NETWORK, *_ON_PROCESSES, *_ON_RESOURCES), key=lambda attack: attack.number)
)

__all__ = ["ATTACKS", "Attack", "Bare", "Trial"]
