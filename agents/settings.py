"""Settings in records: flag > environment (GREENLOOP_*) > `.env` of the working directory > default.

A command takes the records that count for it, as one: what it lacks it refuses. A program takes all of them,
`Settings`. Each field says what may set it beside its flag (see `Use`).
"""

# No `from __future__ import annotations`: cyclopts evaluates texts of inherited fields in the subclass's module.

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Flag, auto
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self, get_args

from cyclopts import Parameter, Token
from cyclopts.validators import Number

from .checked import Record, hints_of
from .errors import UsageError
from .files import read_regular
from .records import Grade

if TYPE_CHECKING:
    from cyclopts import App, ArgumentCollection

Effort = Literal["low", "medium", "high"]
ApprovePoints = Literal["never", "replacement", "round", "all"]
Strategy = Literal["single", "best-of-n", "classic", "greenloop"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
SandboxName = Literal["auto", "bubblewrap", "native", "container", "none"]
RequiredGrade = Literal["verified", "consensus", "contested"]
GRADES: tuple[Grade, ...] = get_args(Grade)  # best first

DOTENV = Path(".env")
_MOST_BYTES = 16 * 1024  # python-dotenv is quadratic in the blanks of a line: 11 s for four times as many
_OF_CI = ("CI", "TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL", "CODEBUILD_BUILD_ID")  # the last are four systems'
KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",), "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "groq": ("GROQ_API_KEY",), "mistral": ("MISTRAL_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",), "openrouter": ("OPENROUTER_API_KEY",), "xai": ("XAI_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
}  # fmt: skip
"""By LiteLLM's name of the provider, the variables that its key may be in, the usual one first."""

Count = Annotated[int, Parameter(validator=Number(gte=1, lte=1_000_000_000))]
Positive = Annotated[float, Parameter(validator=Number(gt=0, lte=1_000_000_000))]


class Use(Flag):
    """The sources of a setting beside its flag, and where it counts; without `ACT`, its variable may too."""

    NONE = 0
    ACT = auto()  # its flag alone: no variable
    FILE = auto()  # `.env` of the working directory
    RECORD = auto()  # the record of a run, heal or batch that is gone on with
    AGAIN = auto()  # no record: what was begun with it is gone on with only where it is given again
    NOTED = auto()  # no record: a sentence says that what was begun with it goes on without
    SERVER = auto()  # opened once by a server for all of its runs, so that no run brings its own
    DIGEST = auto()  # counts in the digest of a batch's entry; models count as they were chosen


_MODEL = Use.RECORD | Use.SERVER
_LIMIT = Use.FILE | Use.RECORD | Use.DIGEST
MORE = Parameter(group="More options")
"""Marks what few people use: in the help it stands behind the rest."""


@dataclass(frozen=True, kw_only=True)
class ModelSettings(Record):
    """The models, and what they are asked."""

    model: Annotated[str | None, _MODEL] = None
    """A LiteLLM id (gpt-4o, ollama/...), `embedded`, or `recorded:DIR`."""
    api_base: Annotated[str | None, MORE, Use.AGAIN | Use.SERVER] = None
    """Base URL of an OpenAI-compatible server."""
    weights: Annotated[Path | None, MORE, Use.AGAIN | Use.SERVER | Use.DIGEST] = None
    """A GGUF file for the embedded model, in place of its own."""
    record: Annotated[Path | None, MORE, Use.NOTED | Use.SERVER] = None
    """Write each reply into this directory, for `recorded:DIR`."""
    cache: Annotated[Path | None, MORE, Use.NOTED | Use.SERVER] = None
    """Keep replies by their requests, and ask no model for them again."""
    frozen: Annotated[bool, MORE, Use.NONE] = False
    """Call no model: a request without a reply in --cache is an error."""

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        if self.api_base is not None and not re.fullmatch(r"https?://[^\s/]\S*", self.api_base):
            way = "give one such as http://127.0.0.1:8000/v1"
            raise UsageError(f"{self.api_base!r} is no address of a server; {way}.")
        if empty := [name for name, value in vars(self).items() if value in ("", "recorded:")]:
            raise UsageError(f"{empty[0]} is empty; name a model, or leave it out.")


@dataclass(frozen=True, kw_only=True)
class HealerSettings(ModelSettings):
    """The models where something is healed."""

    healer_model: Annotated[str | None, MORE, _MODEL] = None
    """Model for the Healer alone."""


@dataclass(frozen=True, kw_only=True)
class LimitSettings(Record):
    """How long is tried, and what is enough."""

    max_rounds: Annotated[int, Parameter(validator=Number(gte=1, lte=99)), _LIMIT] = 5
    """Rounds of testing and replacing at the most."""
    max_seconds: Annotated[Positive | None, _LIMIT] = None
    """Stop calling models after so many seconds."""
    max_tokens: Annotated[Count | None, _LIMIT] = None
    """Stop calling models after so many generated tokens."""
    max_cost: Annotated[Positive | None, _LIMIT] = None
    """Stop calling models at this cost in USD."""
    seed: Annotated[int, Parameter(validator=Number(gte=-(1 << 63), lt=1 << 63)), MORE, _LIMIT] = 0
    """Seed of what is sampled."""
    require: Annotated[RequiredGrade, Use.NOTED] = "consensus"
    """The lowest grade that ends in exit code 0."""


@dataclass(frozen=True, kw_only=True)
class LoopSettings(Record):
    """How a spec becomes a module."""

    code_writer_model: Annotated[str | None, MORE, _MODEL] = None
    """Model for the CodeWriter alone."""
    test_writer_model: Annotated[str | None, MORE, _MODEL] = None
    """Model for the TestWriter alone."""
    critic_model: Annotated[str | None, MORE, _MODEL] = None
    """Model for the Critic alone."""
    effort: Annotated[Effort, _LIMIT] = "medium"
    """How much is tried."""
    drafts: Annotated[int | None, Parameter(validator=Number(gte=1, lte=64)), MORE, _LIMIT] = None
    """Drafts asked for at once; by default what --effort says."""
    temperature: Annotated[float, Parameter(validator=Number(gte=0, lte=2)), MORE, _LIMIT] = 0.8
    """Of each draft but the first, which is taken at 0."""
    mutation: Annotated[bool, Parameter(negative="--no-mutation"), MORE, Use.RECORD | Use.DIGEST] = True
    """Measure in the end what the tests run and notice."""
    packages: Annotated[tuple[str, ...], Use.DIGEST] = ()
    """Installed packages that code and tests may import: `pandas>=2`."""


@dataclass(frozen=True, kw_only=True)
class StrategySettings(LoopSettings):
    """How a spec becomes a module where nothing has begun yet."""

    strategy: Annotated[Strategy, MORE, Use.RECORD | Use.DIGEST] = "greenloop"
    """How; the others are what greenloop is measured against."""


@dataclass(frozen=True, kw_only=True)
class SandboxSettings(Record):
    """The sandbox, and the Python in it."""

    sandbox: Annotated[SandboxName, Use.NOTED | Use.SERVER | Use.DIGEST] = "auto"
    """Where untrusted code runs; `none`: no protection at all."""
    python: Annotated[Path | None, MORE, Use.AGAIN | Use.SERVER | Use.DIGEST] = None
    """The Python (3.9 to 3.14) of the code; by default greenloop's own."""


@dataclass(frozen=True, kw_only=True)
class PlaceSettings(Record):
    """Where runs are kept."""

    work_dir: Annotated[Path, MORE, Use.NONE] = Path("work_dir")
    """Where runs are kept."""


@dataclass(frozen=True, kw_only=True)
class AnswerSettings(Record):
    """Answers of a person: trusted."""

    answers: Annotated[Path | None, Use.ACT | Use.DIGEST] = None
    """Trusted answers to open questions: a file, `f(1) == 2` on a line."""


@dataclass(frozen=True, kw_only=True)
class WaitSettings(Record):
    """How long a person is waited for."""

    approve_seconds: Annotated[Positive | None, MORE, Use.ACT | Use.RECORD] = None
    """Interrupt the run where nobody approves for so long."""


@dataclass(frozen=True, kw_only=True)
class ApproveSettings(WaitSettings):
    """Approvals by a person."""

    approve: Annotated[ApprovePoints, MORE, Use.ACT | Use.RECORD] = "never"
    """What waits for your yes."""


@dataclass(frozen=True, kw_only=True)
class Output(Record):
    """How a command prints."""

    json: Annotated[bool, Use.NONE] = False
    """Print one JSON document and nothing else."""
    quiet: Annotated[bool, MORE, Use.NONE] = False
    """Print no progress."""
    color: Annotated[bool, Parameter(negative="--no-color"), MORE, Use.NONE] = True
    """Use colours on a terminal."""


@dataclass(frozen=True, kw_only=True)
class RunSettings(
    ApproveSettings, AnswerSettings, PlaceSettings, SandboxSettings, StrategySettings, LimitSettings, ModelSettings
):
    """For a run of a spec."""


@dataclass(frozen=True, kw_only=True)
class DebugSettings(ApproveSettings, PlaceSettings, SandboxSettings, LoopSettings, LimitSettings, ModelSettings):
    """For a debugger on a run, which has its strategy."""


@dataclass(frozen=True, kw_only=True)
class HealSettings(AnswerSettings, PlaceSettings, SandboxSettings, LimitSettings, HealerSettings):
    """For a heal."""


@dataclass(frozen=True, kw_only=True)
class BatchSettings(SandboxSettings, StrategySettings, LimitSettings, HealerSettings):
    """For a batch, which asks nobody and keeps its runs in its own directory."""


@dataclass(frozen=True, kw_only=True)
class UiSettings(WaitSettings, PlaceSettings, SandboxSettings, StrategySettings, LimitSettings, ModelSettings):
    """For the page, where each run says whether it waits for approvals."""


@dataclass(frozen=True, kw_only=True)
class McpSettings(SandboxSettings, StrategySettings, LimitSettings, HealerSettings):
    """For an MCP server, which clients start in any folder."""

    work_dir: Annotated[Path | None, MORE, Use.NONE] = None
    """Where runs are kept; by default the user's data directory."""


@dataclass(frozen=True, kw_only=True)
class Settings(RunSettings, HealerSettings):
    """Everything a run can be told, apart from its spec."""

    @classmethod
    def of(cls, record: Record) -> Self:
        """Return all settings: those of `record`, and defaults."""
        return cls(**vars(record))

    @classmethod
    def from_environment(cls, *, dotenv: bool = True) -> Self:
        """Settings from GREENLOOP_* variables, and with `dotenv` what `.env` of the working directory may set (not
        in CI): limits, and providers' keys, which are added to this process's environment.

        A variable that is there already stays as it is. Raises UsageError where a value doesn't fit.
        """
        from cyclopts import App, CycloptsError

        app = App(config=Variables(lambda _: dotenv, lambda _: None), default_command=cls)
        try:
            settings: Self = app([], exit_on_error=False, print_error=False, result_action="return_value")
        except CycloptsError as error:
            raise UsageError(str(error)) from error
        return settings


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Totals:
    """Limits of a batch; None does not bind."""

    total_cost: Positive | None = None
    """Stop the batch at this cost in USD, earlier sittings included."""
    total_tokens: Count | None = None
    """Stop the batch after so many tokens, earlier sittings included."""
    total_seconds: Positive | None = None
    """Stop the batch after so many seconds of this sitting."""


UNLIMITED = Totals()


@dataclass(frozen=True, slots=True)
class Variables:
    """Gives settings the values of GREENLOOP_* variables: a configuration of cyclopts. A command of which `reads`
    is true gets what `.env` may set, too; `say` is given a sentence on the rest of it."""

    reads: Callable[[tuple[str, ...]], bool]
    say: Callable[[str], None]

    def __call__(self, app: "App", commands: tuple[str, ...], arguments: "ArgumentCollection") -> None:
        """Add a token to each argument without one whose variable is set."""
        values, sentence = read_dotenv(self.reads(commands))
        for name in {name for names in KEY_VARIABLES.values() for name in names} & values.keys():
            os.environ.setdefault(name, values.pop(name))
        if sentence:
            self.say(sentence)
        values |= os.environ
        known = {**uses(), **uses(Output)}
        for argument in arguments:
            if "Path" in str(argument.hint) and any(token.value == "" for token in argument.tokens):
                raise UsageError(f"{argument.name} is empty; name a path, or leave it out.")
            field = argument.name.removeprefix("--").replace("-", "_")
            name = f"GREENLOOP_{field.upper()}"
            if Use.ACT not in known.get(field, Use.ACT) and values.get(name) and not argument.has_tokens:
                for index, value in enumerate(argument.env_var_split(values[name])):
                    argument.append(Token(keyword=name, value=value, source="environment", index=index))


def read_dotenv(reads: bool) -> tuple[dict[str, str], str]:
    """Return the variables that `.env` of the working directory may set, none unless it `reads` and outside of CI,
    and a sentence that names the others; an empty one where there are none."""
    if not os.path.lexists(DOTENV) or os.path.isdir(DOTENV):  # noqa: PTH112 (Path's fails at odd links)
        return {}, ""
    try:
        text = read_regular(DOTENV, Path.cwd(), _MOST_BYTES + 1)
    except (OSError, UsageError) as error:
        return {}, f".env is not read: {error}"
    if len(text) > _MOST_BYTES:
        return {}, f".env is not read: it has more than {_MOST_BYTES} bytes."
    from dotenv import dotenv_values

    found = dotenv_values(stream=StringIO(text.decode("utf-8", "replace").replace("\0", "")), interpolate=False)
    allowed = {f"GREENLOOP_{name.upper()}" for name, use in uses().items() if Use.FILE in use}
    allowed = allowed.union(*KEY_VARIABLES.values()) if reads and not in_ci() else set()
    taken = {name: value for name, value in found.items() if value and name in allowed}
    left = [name for name in found if name not in allowed]
    names = ", ".join(name if name.isascii() and name.isprintable() else ascii(name) for name in left)
    what = "only limits and providers' keys are taken" if allowed else "nothing is taken here"
    way = "ignored, unless you set it in the environment or by an option"
    return taken, f"Of .env {what}; {way}: {names}." if left else ""


def in_ci() -> bool:
    """Return True in a CI job, by the variables of the systems."""
    return any(os.environ.get(name, "").lower() not in ("", "0", "false") for name in _OF_CI)


@cache
def uses(kind: type = Settings) -> Mapping[str, Use]:
    """Return the `Use` of every setting, by its field's name."""
    hints = hints_of(kind).items()
    return {name: next(each for each in get_args(hint) if isinstance(each, Use)) for name, hint in hints}


def reaches(grade: Grade | None, required: RequiredGrade) -> bool:
    """Return True if `grade` is at least `required`."""
    return grade is not None and GRADES.index(grade) <= GRADES.index(required)
