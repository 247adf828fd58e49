"""One Settings for a run: flag > environment (GREENLOOP_*) > .env > default.

The command line (cyclopts) fills these fields from flags and environment variables; a program fills them by hand.
`.env` is read into the environment before that, so provider keys in it reach LiteLLM too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from cyclopts import Parameter
from cyclopts.config import Env
from cyclopts.validators import Number

from .errors import UsageError

if TYPE_CHECKING:
    from .records import Grade

Effort = Literal["low", "medium", "high"]
ApprovePoints = Literal["never", "replacement", "round", "all"]
Strategy = Literal["single", "best-of-n", "classic", "greenloop"]
STRATEGIES: tuple[Strategy, ...] = ("single", "best-of-n", "classic", "greenloop")
SandboxName = Literal["auto", "bubblewrap", "native", "container", "none"]
RequiredGrade = Literal["verified", "consensus", "contested"]

GRADES: tuple[Grade, ...] = ("verified", "consensus", "contested", "failed")
"""Best first."""

ENVIRONMENT = Env("GREENLOOP_", command=False)
"""How settings are read from variables."""

Count = Annotated[int, Parameter(validator=Number(gte=1))]
Positive = Annotated[float, Parameter(validator=Number(gt=0))]


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run can be told, apart from its spec."""

    model: str | None = None
    """Model for every role: a LiteLLM id (gpt-4o, anthropic/..., ollama/...), `embedded`, or `recorded:DIR`."""
    code_writer_model: str | None = None
    """Model for the CodeWriter alone."""
    test_writer_model: str | None = None
    """Model for the TestWriter alone."""
    critic_model: str | None = None
    """Model for the Critic alone."""
    healer_model: str | None = None
    """Model for the Healer of `heal` alone."""
    api_base: str | None = None
    """Base URL of an OpenAI-compatible server."""
    weights: Path | None = None
    """A GGUF file for the embedded model, in place of the built-in choice."""
    record: Path | None = None
    """Write every reply into this directory, for `--model recorded:DIR`."""
    cache: Path | None = None
    """Keep replies in this directory by the content of their requests, and ask no model what it answers."""
    frozen: Annotated[bool, Parameter(negative="")] = False
    """Call no model at all: a request that --cache has no reply to is an error."""
    python: Path | None = None
    """The Python (3.9 to 3.14) that runs the code and its tests; by default the one that runs greenloop."""
    packages: Annotated[tuple[str, ...], Parameter(negative="")] = ()
    """Third-party packages that code and tests may import, installed there: `numpy`, `pandas>=2`."""
    answers: Path | None = None
    """A file of answers to open questions, `f(1) == 2` on a line: trusted tests; with --resume too."""

    max_rounds: Count = 5
    """Rounds of testing and replacing at the most."""
    max_seconds: Positive | None = None
    """Stop calling models after so many seconds."""
    max_tokens: Count | None = None
    """Stop calling models after so many generated tokens."""
    max_cost: Positive | None = None
    """Stop calling models at this cost in USD, by LiteLLM's price data."""
    drafts: Count | None = None
    """Drafts asked for at once; by default what --effort says."""
    effort: Effort = "medium"
    """How much is drafted and voted on before giving up."""
    strategy: Strategy = "greenloop"
    """How the result is found; the others are what greenloop is measured against."""
    temperature: Annotated[float, Parameter(validator=Number(gte=0, lte=2))] = 0.8
    """Sampling temperature of every draft but the first, which is taken at 0."""
    seed: int = 0
    """Seed of the sampled drafts."""

    approve: ApprovePoints = "never"
    """What is shown and waits for your answer: each replacement, each round too, or first drafts and tests too."""
    approve_seconds: Positive | None = None
    """Interrupt the run, to be resumed, where nobody answers for so long."""

    mutation: bool = True
    """Measure the surviving tests in the end: what of the code they run, and which changes of it they notice."""

    require: RequiredGrade = "consensus"
    """The lowest grade that ends in exit code 0."""
    sandbox: SandboxName = "auto"
    """Where untrusted code runs; `none` means no protection at all."""
    work_dir: Path = Path("work_dir")
    """Where runs are kept."""
    json: Annotated[bool, Parameter(negative="")] = False
    """Print one JSON document on standard output and nothing else."""
    quiet: Annotated[bool, Parameter(negative="")] = False
    """Print no progress."""
    color: bool = True
    """Use colours on a terminal."""

    @classmethod
    def from_environment(cls) -> Self:
        """Settings from GREENLOOP_* variables, those in `.env` of the working directory included.

        What else `.env` holds, such as providers' keys, is added to this process's environment; a variable that is
        there already stays as it is. Raises UsageError where a value doesn't fit.
        """
        from cyclopts import App, CycloptsError

        def read(*, settings: Settings = Settings()) -> Settings:
            return settings

        load_dotenv_file()
        try:
            app = App(config=ENVIRONMENT, default_command=read)
            settings: Self = app([], exit_on_error=False, print_error=False, result_action="return_value")
        except CycloptsError as error:
            raise UsageError(str(error)) from error
        return settings


def load_dotenv_file() -> None:
    """Add what `.env` of the working directory holds to the environment; what is there already goes first."""
    if Path(".env").is_file():
        from dotenv import load_dotenv

        load_dotenv(Path(".env"), override=False)


def reaches(grade: Grade | None, required: RequiredGrade) -> bool:
    """Return True if `grade` is at least `required`."""
    return grade is not None and GRADES.index(grade) <= GRADES.index(required)
