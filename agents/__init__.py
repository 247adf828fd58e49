"""greenloop: spec in, verified Python out.

    from greenloop import Settings, generate, heal, verify

    result = generate("Implement add(a: int, b: int) -> int. add(1, 2) == 3", settings=Settings(model="embedded"))
    verdict = verify(result.code, tests)
    patch = heal("script.py", settings=Settings(model="embedded")).diff

A public name is imported when it is first used, so that `import greenloop` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import BudgetSpent as BudgetSpent
    from .errors import GreenloopError as GreenloopError
    from .errors import Interrupted as Interrupted
    from .errors import ModelError as ModelError
    from .errors import SandboxBroken as SandboxBroken
    from .errors import SandboxUnavailable as SandboxUnavailable
    from .errors import StorageFailed as StorageFailed
    from .errors import UsageError as UsageError
    from .events import Event as Event
    from .healing.run import HealOptions as HealOptions
    from .healing.run import aheal as aheal
    from .healing.run import heal as heal
    from .records import RunResult as RunResult
    from .records import Spec as Spec
    from .records import UserModule as UserModule
    from .records import Verdict as Verdict
    from .records.approvals import Decision as Decision
    from .records.approvals import Proposal as Proposal
    from .records.heal import HealRequest as HealRequest
    from .records.heal import HealResult as HealResult
    from .repairing.repair import repair as repair
    from .run.cancellation import Cancellation as Cancellation
    from .run.run import agenerate as agenerate
    from .run.run import generate as generate
    from .sandbox import SandboxLimits as SandboxLimits
    from .settings import Settings as Settings
    from .spec import read_modules as read_modules
    from .spec import read_spec as read_spec
    from .verifier.verifier import Verifier as Verifier
    from .verifier.verify import averify as averify
    from .verifier.verify import verify as verify

__version__ = "0.1.0"

_NAMES = {
    "errors": "BudgetSpent GreenloopError Interrupted ModelError SandboxBroken SandboxUnavailable StorageFailed"
    " UsageError",
    "events": "Event",
    "healing.run": "HealOptions aheal heal",
    "records": "RunResult Spec UserModule Verdict",
    "records.approvals": "Decision Proposal",
    "records.heal": "HealRequest HealResult",
    "repairing.repair": "repair",
    "run.cancellation": "Cancellation",
    "run.run": "agenerate generate",
    "sandbox": "SandboxLimits",
    "settings": "Settings",
    "spec": "read_modules read_spec",
    "verifier.verifier": "Verifier",
    "verifier.verify": "averify verify",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = [*_MODULES]


def __getattr__(name: str) -> object:
    """Import a public name where it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
