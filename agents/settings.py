"""One Settings for a run: flag > environment (GREENLOOP_*) > `.env` of the working directory > default.

Each field says what may set it beside its flag (see `Use`). The command line (cyclopts) fills the fields; a
program fills them by hand.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Flag, auto
from functools import cache
from io import StringIO
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Union, get_args, get_origin, get_type_hints

from cyclopts import Parameter, Token
from cyclopts.validators import Number

from .errors import UsageError
from .files import read_regular

if TYPE_CHECKING:
    from cyclopts import App, ArgumentCollection

    from .records import Grade

Effort = Literal["low", "medium", "high"]
ApprovePoints = Literal["never", "replacement", "round", "all"]
Strategy = Literal["single", "best-of-n", "classic", "greenloop"]
STRATEGIES: tuple[Strategy, ...] = ("single", "best-of-n", "classic", "greenloop")
SandboxName = Literal["auto", "bubblewrap", "native", "container", "none"]
RequiredGrade = Literal["verified", "consensus", "contested"]

GRADES: tuple[Grade, ...] = ("verified", "consensus", "contested", "failed")
"""Best first."""

DOTENV = Path(".env")
_MOST_BYTES = 16 * 1024  # python-dotenv is quadratic in the blanks of a line: 11 s for four times as many
KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",), "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "groq": ("GROQ_API_KEY",), "mistral": ("MISTRAL_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",), "openrouter": ("OPENROUTER_API_KEY",), "xai": ("XAI_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
}  # fmt: skip
"""By LiteLLM's name of the provider, the variables that its key may be in, the usual one first."""

Count = Annotated[int, Parameter(validator=Number(gte=1))]
Positive = Annotated[float, Parameter(validator=Number(gt=0))]


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


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run can be told, apart from its spec. Raises UsageError for a value that doesn't fit."""

    model: Annotated[str | None, _MODEL] = None
    """Model for every role: a LiteLLM id (gpt-4o, anthropic/..., ollama/...), `embedded`, or `recorded:DIR`."""
    code_writer_model: Annotated[str | None, _MODEL] = None
    """Model for the CodeWriter alone."""
    test_writer_model: Annotated[str | None, _MODEL] = None
    """Model for the TestWriter alone."""
    critic_model: Annotated[str | None, _MODEL] = None
    """Model for the Critic alone."""
    healer_model: Annotated[str | None, _MODEL] = None
    """Model for the Healer of `heal` alone."""
    api_base: Annotated[str | None, Use.AGAIN | Use.SERVER] = None
    """Base URL of an OpenAI-compatible server."""
    weights: Annotated[Path | None, Use.AGAIN | Use.SERVER | Use.DIGEST] = None
    """A GGUF file for the embedded model, in place of the built-in choice."""
    record: Annotated[Path | None, Use.NOTED | Use.SERVER] = None
    """Write every reply into this directory, for `--model recorded:DIR`."""
    cache: Annotated[Path | None, Use.NOTED | Use.SERVER] = None
    """Keep replies in this directory by the content of their requests, and ask no model what it answers."""
    frozen: Annotated[bool, Parameter(negative=""), Use.NONE] = False
    """Call no model at all: a request that --cache has no reply to is an error."""
    python: Annotated[Path | None, Use.AGAIN | Use.SERVER | Use.DIGEST] = None
    """The Python (3.9 to 3.14) that runs the code and its tests; by default the one that runs greenloop."""
    packages: Annotated[tuple[str, ...], Parameter(negative=""), Use.DIGEST] = ()
    """Third-party packages that code and tests may import, installed there: `numpy`, `pandas>=2`."""
    answers: Annotated[Path | None, Use.ACT | Use.DIGEST] = None
    """A file of answers to open questions, `f(1) == 2` on a line: trusted tests; with --resume too."""

    max_rounds: Annotated[Count, _LIMIT] = 5
    """Rounds of testing and replacing at the most."""
    max_seconds: Annotated[Positive | None, _LIMIT] = None
    """Stop calling models after so many seconds."""
    max_tokens: Annotated[Count | None, _LIMIT] = None
    """Stop calling models after so many generated tokens."""
    max_cost: Annotated[Positive | None, _LIMIT] = None
    """Stop calling models at this cost in USD, by LiteLLM's price data."""
    drafts: Annotated[Count | None, _LIMIT] = None
    """Drafts asked for at once; by default what --effort says."""
    effort: Annotated[Effort, _LIMIT] = "medium"
    """How much is drafted and voted on before giving up."""
    strategy: Annotated[Strategy, Use.RECORD | Use.DIGEST] = "greenloop"
    """How the result is found; the others are what greenloop is measured against."""
    temperature: Annotated[float, Parameter(validator=Number(gte=0, lte=2)), _LIMIT] = 0.8
    """Sampling temperature of every draft but the first, which is taken at 0."""
    seed: Annotated[int, _LIMIT] = 0
    """Seed of the sampled drafts."""

    approve: Annotated[ApprovePoints, Use.ACT | Use.RECORD] = "never"
    """What is shown and waits for your answer: each replacement, each round too, or first drafts and tests too."""
    approve_seconds: Annotated[Positive | None, Use.ACT | Use.RECORD] = None
    """Interrupt the run, to be resumed, where nobody answers for so long."""

    mutation: Annotated[bool, Use.RECORD | Use.DIGEST] = True
    """Measure the surviving tests in the end: what of the code they run, and which changes of it they notice."""

    require: Annotated[RequiredGrade, Use.NOTED] = "consensus"
    """The lowest grade that ends in exit code 0."""
    sandbox: Annotated[SandboxName, Use.NOTED | Use.SERVER | Use.DIGEST] = "auto"
    """Where untrusted code runs; `none` means no protection at all."""
    work_dir: Annotated[Path, Use.NONE] = Path("work_dir")
    """Where runs are kept."""
    json: Annotated[bool, Parameter(negative=""), Use.NONE] = False
    """Print one JSON document on standard output and nothing else."""
    quiet: Annotated[bool, Parameter(negative=""), Use.NONE] = False
    """Print no progress."""
    color: Annotated[bool, Use.NONE] = True
    """Use colours on a terminal."""

    def __post_init__(self) -> None:
        for name, hint in _hints().items():
            value = getattr(self, name)
            if isinstance(value, str) and not _wanted(hint, Path()):
                object.__setattr__(self, name, value := Path(value))
            if wanted := _wanted(hint, value):
                raise UsageError(f"{name} can't be {value!r}; give {wanted}.")
        if self.api_base is not None and not re.fullmatch(r"https?://[^\s/]\S*", self.api_base):
            way = "give one such as http://127.0.0.1:8000/v1"
            raise UsageError(f"{self.api_base!r} is no address of a server; {way}.")

    @classmethod
    def from_environment(cls, *, dotenv: bool = True) -> Self:
        """Settings from GREENLOOP_* variables, and with `dotenv` what `.env` of the working directory may set (not
        in CI): limits, and providers' keys, which are added to this process's environment.

        A variable that is there already stays as it is. Raises UsageError where a value doesn't fit.
        """
        from cyclopts import App, CycloptsError

        def read(*, settings: Settings = Settings()) -> Settings:
            return settings

        try:
            app = App(config=Variables(lambda _: dotenv, lambda _: None), default_command=read)
            settings: Self = app([], exit_on_error=False, print_error=False, result_action="return_value")
        except CycloptsError as error:
            raise UsageError(str(error)) from error
        return settings


@dataclass(frozen=True, slots=True)
class Variables:
    """Gives settings the values of GREENLOOP_* variables: a configuration of cyclopts.

    A command of which `reads` is true gets what `.env` may set, too; `say` is given a sentence on the rest of it.
    """

    reads: Callable[[tuple[str, ...]], bool]
    say: Callable[[str], None]

    def __call__(self, app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
        """Add a token to each argument without one whose variable is set."""
        values, sentence = read_dotenv(self.reads(commands))
        for name in {name for names in KEY_VARIABLES.values() for name in names} & values.keys():
            os.environ.setdefault(name, values.pop(name))
        if sentence:
            self.say(sentence)
        values |= os.environ
        for argument in arguments:
            field = argument.name.removeprefix("--").replace("-", "_")
            name = f"GREENLOOP_{field.upper()}"
            if field in uses() and Use.ACT not in uses()[field] and name in values and not argument.has_tokens:
                for index, value in enumerate(argument.env_var_split(values[name])):
                    argument.append(Token(keyword=name, value=value, source="environment", index=index))


def read_dotenv(reads: bool) -> tuple[dict[str, str], str]:
    """Return the variables that `.env` of the working directory may set, none unless it `reads` and outside of CI,
    and a sentence that names the others; an empty one where there are none."""
    if not os.path.lexists(DOTENV) or DOTENV.is_dir():
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
    """Return True in a CI job, by the variable CI."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


@cache
def _hints() -> Mapping[str, Any]:
    return get_type_hints(Settings, include_extras=True)


@cache
def uses() -> Mapping[str, Use]:
    """Return the `Use` of every setting, by its field's name."""
    return {
        name: next(each for each in get_args(hint) if isinstance(each, Use)) for name, hint in _hints().items()
    }


_KINDS: Mapping[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "True or False"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
    Path: ((Path,), "a path"),
    type(None): ((type(None),), "None"),
}


def _wanted(hint: Any, value: Any) -> str:
    """Return what fits the annotation `hint` where `value` doesn't; else an empty text."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        wanted = _wanted(parts[0], value)
        parameters: list[Any] = [part for part in parts[1:] if isinstance(part, Parameter)]
        for rule in (rule for parameter in parameters for rule in parameter.validator if not wanted):
            try:
                rule(parts[0], value)
            except ValueError as error:
                wanted = f"another number ({str(error).lower().rstrip('.')})"
        return wanted
    if origin in (Union, UnionType):
        each = [_wanted(part, value) for part in parts]
        return "" if "" in each else each[0]
    if origin is Literal:
        return "" if value in parts else f"one of {', '.join(parts)}"
    if origin is tuple:
        fits = isinstance(value, tuple) and all(isinstance(one, str) for one in value)
        return "" if fits else "a tuple of texts"
    kinds, name = _KINDS[hint]
    fits = isinstance(value, kinds) and isinstance(value, bool) is (hint is bool) and value == value
    return "" if fits else name


def reaches(grade: Grade | None, required: RequiredGrade) -> bool:
    """Return True if `grade` is at least `required`."""
    return grade is not None and GRADES.index(grade) <= GRADES.index(required)
