"""The exceptions, with their exit codes.

GreenloopError                  one sentence for the user, with the remedy
├── UsageError            2     bad input: an unreadable spec, an unknown run, a contradictory option
├── ModelError            3     no usable reply; `kind` says why, `transient` that a retry may help
├── SandboxUnavailable    4     nothing on this machine can run untrusted code safely
├── SandboxBroken         4     the sandbox itself failed while running a job (never a verdict)
├── BudgetSpent           5     a limit was reached before a ruling; has limit, value and allowed
├── TotalSpent            5     the same for a limit of the whole batch
├── StorageFailed         1     results can't be written: a full disk, a missing directory
└── Interrupted         130     the user stopped the run

ReplyError is separate: an unusable reply is requested again, not reported.
"""

from __future__ import annotations

from typing import ClassVar


class GreenloopError(Exception):
    """Base of all errors for users; `str(error)` is a sentence that ends with the remedy."""

    exit_code: ClassVar[int] = 1
    kind: str = "error"


class UsageError(GreenloopError):
    """The request is wrong: bad input, a missing file, an option out of range."""

    exit_code = 2
    kind = "usage"


class ModelError(GreenloopError):
    """A model could not be reached or gave no usable reply.

    `kind` is one of: bad_key, no_such_model, quota, rate_limit, context_too_long, refusal, empty_reply,
    no_chat_reply, bad_reply, unusable_reply, network, server_error, bad_request, not_recorded, not_cached,
    weights, runtime.
    `transient`: the same call may succeed later; `retry_after` is the server's value, in seconds.
    """

    exit_code = 3

    def __init__(
        self, kind: str, message: str, *, transient: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.transient = transient
        self.retry_after = retry_after


class SandboxUnavailable(GreenloopError):
    """No sandbox backend works on this machine; the message gives the reason and the remedy."""

    exit_code = 4
    kind = "sandbox_unavailable"


class SandboxBroken(GreenloopError):
    """The sandbox failed while running a job; that is no fault of the code under test."""

    exit_code = 4
    kind = "sandbox_broken"


class _LimitReached(GreenloopError):
    """A limit was reached: `limit` is its name, `value` was used of `allowed` (tokens, seconds, USD or calls)."""

    exit_code = 5
    sentence: ClassVar[str]

    def __init__(self, limit: str, value: float, allowed: float) -> None:
        super().__init__(self.sentence.format(limit=limit, value=value, allowed=allowed))
        self.limit = limit
        self.value = value
        self.allowed = allowed


class BudgetSpent(_LimitReached):
    """A limit of a run was reached."""

    kind = "budget_spent"
    sentence = (
        "The budget is spent: {limit} reached {value:g} of {allowed:g}; raise --max-{limit} and go on with "
        "--resume."
    )


class TotalSpent(_LimitReached):
    """A limit of the whole batch was reached: unlike at BudgetSpent, the run gets no ruling, to be resumed."""

    kind = "total_spent"
    sentence = (
        "The batch's budget is spent: {limit} reached {value:g} of {allowed:g}; raise --total-{limit} and run the "
        "same command again."
    )


class StorageFailed(GreenloopError):
    """Nothing more can be written; earlier files are complete."""

    kind = "storage"


class Interrupted(GreenloopError):
    """The user pressed Ctrl-C, or the process got a signal to end; results so far are saved."""

    exit_code = 130
    kind = "interrupted"


class ReplyError(Exception):
    """A model's reply is not usable; `str(error)` is the reason, worded for the model's next attempt."""


def check_type(name: str, given: object, kinds: type | tuple[type, ...], wanted: str) -> None:
    """Raise UsageError for an argument of none of the types `kinds`; `wanted` says what to give."""
    if not isinstance(given, kinds):
        raise UsageError(f"{name} can't be of type {type(given).__name__}; give {wanted}.")
