"""The attacks that a sandbox must stop, each a real program with a check outside the sandbox.

Each attack is tried without a sandbox first: one that fails there proves nothing. Since that try runs for real,
all attacks are bounded (processes, bytes, seconds) and clean up after themselves.
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
