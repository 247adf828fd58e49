"""Records of a heal: symptoms, places, patches, and their ruling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .ruling import Grade
from .run import Ending, RunStatus

SymptomKind = Literal["exception", "syntax", "output", "tests", "limit"]
HealOutcome = Literal["healed", "healthy", "unhealed", "flaky", "environment", "refused"]
SuspicionName = Literal[
    "swallows",
    "hard-coded",
    "removes",
    "leaves early",
    "reaches",
    "weakens types",
    "changes arguments",
    "prints",
    "writes files",
    "slower",
]
PlaceUnit = Literal["statements", "function", "class", "file"]


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a traceback: its file (relative to the case's folder), its line (from 1), the qualified name of
    its function (`<module>` at the top), and arguments and locals as bounded `repr`s."""

    path: str
    line: int
    function: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RaisedError:
    """An error that a script or a test raised, or its cause. `bases` are the names of its class's bases, `frames`
    those in files of the case, deepest first, `raised_in` the file of the deepest frame of all."""

    kind: str
    bases: tuple[str, ...]
    message: str
    errno: int | None
    filename: str | None
    name: str | None
    raised_in: str
    frames: tuple[Frame, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """One expectation of a case: a test, `--expect`, or a call. `detail` is its failure; `literals` are the
    literals (source text) that it passes to the code or expects."""

    name: str
    detail: str
    source: str = ""
    literals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Symptom:
    """How a case fails. Two runs fail the same way if `kind`, `summary` and the names of `items` are equal."""

    kind: SymptomKind
    summary: str
    """Type and message of the failure with addresses, times and temporary paths left out."""
    traceback: str = ""
    """As shown to the user: the deepest frames of the case's own files, cut."""
    frames: tuple[Frame, ...] = ()
    """Deepest first, also of `__cause__`, `__context__` and groups; only in files of the case."""
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call of `function` (its qualified name) in the file `path`; `source` repeats it in that module."""

    path: str
    function: str
    source: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a call: the value as text (source for plain data), or the name of the exception that it
    `raises`; its output, its arguments and its object (`state`) if it changed them, the texts of the files that it
    wrote, and mutable objects that its value has `twice`."""

    value: str | None
    raises: str | None = None
    output: str = ""
    arguments: str = ""
    state: str = ""
    seconds: float = 0.0
    deliberate: bool = False
    """True if a `raise` or `assert` of the case's own files raised it."""
    files: str = ""
    twice: str = ""

    @property
    def text(self) -> str | None:
        """Value and effects, by which two answers are compared; None where it raises."""
        effects = {"prints": self.output, "arguments become": self.arguments, "object becomes": self.state}
        effects |= {"files become": self.files, "holds one object twice,": self.twice}
        said = [f"{name} {effect}" for name, effect in effects.items() if effect]
        return None if self.value is None else "; ".join([self.value, *said])


@dataclass(frozen=True, slots=True)
class Observation:
    """One run of a case in fresh processes. Files heal a case if `symptom` is None and `broken` is empty.

    `environment` is a sentence with a remedy where the code is not the cause of the failure; no model is asked.
    `behavior` is the text by which two patches are compared: output, exit code, files, values.
    """

    symptom: Symptom | None = None
    broken: tuple[str, ...] = ()
    """Guards that do not hold, each a name or a sentence; for unchanged files, failures that are left out."""
    environment: str | None = None
    behavior: str = ""
    new_files: tuple[str, ...] = ()
    """Unexpected files that it writes, and that the unchanged code did not write before it ended."""
    calls: tuple[Call, ...] = ()
    """Calls of functions in its files, where they were asked for; `left_out` are calls that can't be repeated."""
    left_out: tuple[Call, ...] = ()
    reached: Mapping[str, float] = field(default_factory=dict)
    """Suspicion of each function (`path::name` -> Ochiai, 0 to 1), where coverage of tests gave one."""

    @property
    def healed(self) -> bool:
        """Symptom gone, guards hold."""
        return self.symptom is None and not self.broken and self.environment is None


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a file that a patch replaces: `unit` named `name` (qualified; empty for a file), lines from 1."""

    path: str
    unit: PlaceUnit
    name: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Patch:
    """New text for the files of a case: `files` has the whole new text of each file that it changes."""

    id: str
    place: Place
    files: Mapping[str, str]
    changed_nodes: int = 0
    changed_lines: int = 0


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A named reason not to believe a plausible patch; it can lower a grade and never raise one."""

    name: SuspicionName
    detail: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One patch, its observation and its suspicions."""

    patch: Patch
    observation: Observation
    suspicions: tuple[Suspicion, ...] = ()

    @property
    def plausible(self) -> bool:
        """True if it heals the case."""
        return self.observation.healed


@dataclass(frozen=True, slots=True)
class HealRuling:
    """The ruling on the trials of a case."""

    grade: Grade
    leader: str | None
    why: str
    question: str | None = None
    """The question whose answer would settle a contested patch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealResult(Ending):
    """The result of a heal. `files` has the whole new text of each file that the leading patch changes."""

    outcome: HealOutcome
    exit_code: int = 1
    question: str | None = None
    symptom: Symptom | None = None
    places: tuple[Place, ...] = ()
    trials: tuple[Trial, ...] = ()
    leader: str | None = None
    diff: str = ""
    """Unified, for `git apply`; empty without a leader."""
    files: Mapping[str, str] = field(default_factory=dict)
    written: tuple[WrittenFile, ...] = ()
    """The user's files that were changed; empty without `--apply`, and below the grade required for it."""
    model: str | None = None
    model_reason: str = ""
    sandbox: str | None = None
    run_dir: str | None = None
    schema_version: int = 1


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file of the user's that a patch was written into, or is about to be. `digest` is the SHA-256 of its new
    bytes, `before` of those in `backup` (empty in records of earlier versions)."""

    file: str
    backup: str
    digest: str
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealRequest:
    """A heal as recorded in `case.json`: the script `path`, with `tests` (node ids and paths) the project `path`,
    or with `name` a function in the file `path`. Paths are absolute; `environment` has only names of variables."""

    path: str
    name: str | None = None
    tests: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    stdin: str | None = None
    environment: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    expect: str | None = None
    expect_output: bool = False
    expect_exit: int | None = None
    expect_file: tuple[str, ...] = ()
    expect_call: tuple[str, ...] = ()
    seconds: float = 10.0

    @property
    def title(self) -> str:
        """The object of the heal, in one line."""
        name = f"{Path(self.path).name}::{self.name}" if self.name else Path(self.path).name
        return " ".join(("heal", name, *self.arguments))


@dataclass(frozen=True, slots=True, kw_only=True)
class HealRecord:
    """`run.json` of a heal. Settings hold no secret."""

    kind: Literal["heal"] = "heal"
    schema_version: int = 1
    id: str
    greenloop_version: str
    created: str
    """Time of the start, ISO 8601 with zone."""
    status: RunStatus
    request: HealRequest
    settings: dict[str, str | int | float | bool | None]
    result: HealResult | None = None
