"""The command line: parse it, run one command, and return its exit code."""

from __future__ import annotations

import itertools
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import NoReturn

from cyclopts import App, ArgumentCollection, CycloptsError, Parameter, UnknownOptionError, UnusedCliTokensError

from .. import __version__
from ..errors import GreenloopError, Interrupted, UsageError
from ..files import forget_relative_path
from ..settings import Variables
from ..terminal.console import Console
from .audit import audit
from .batch import batch, merge, status
from .bench import everyday, humaneval, mbpp, quixbugs, seeded_bugs
from .ending import open_streams, repeat_signals, unusable
from .heal import heal
from .machine import build, check, fetch, list_models
from .run import debug, mistyped, run
from .serve import mcp, ui
from .show import show
from .verify import verify
from .verify_pairs import verify_pairs

_READ_DOTENV = ((), ("batch",), ("debug",), ("models",))
"""Commands that read `.env`. Others are started in untrusted folders: by an editor (mcp), in CI or before a push
(verify, heal), or serve others (ui)."""

RUN = "a run of a spec"
"""The command without a name."""
_OWN_COMMANDS = {"--jsonl": "verify-pairs FILE", "--project": "audit DIR"}
"""Former options of `verify`, with the commands that replace them."""


app = App(
    name="greenloop",
    help="Spec in, verified Python out: drafts a module and, blind to it, its tests; runs them in a sandbox; "
    "repairs until the judge is satisfied or says that it is not.",
    version=__version__,
    # Defaults that are off or empty are not shown.
    default_parameter=Parameter(
        negative="", show_default=lambda value: None if isinstance(value, bool) or value in ("", ()) else value
    ),
    config=Variables(_READ_DOTENV.__contains__, lambda sentence: Console().error(sentence)),
    help_format="plaintext",
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,  # SystemExit would wait for every thread
)
app.default(run)
_models = "List the models that can be used here, and why others can't."
_bench = App(name="bench", help="Measure greenloop itself.")
_bench.command(humaneval, name="humaneval+")
_bench.command(mbpp, name="mbpp+")
for _group, _commands in (
    (app, (audit, debug, heal, mcp, show, ui, verify, verify_pairs)),
    (App(name="batch", default_command=batch), (status, merge)),
    (_bench, (everyday, quixbugs, seeded_bugs)),
    (App(name="models", help=_models, default_command=list_models), (fetch,)),
    (App(name="sandbox", help="What untrusted code runs in."), (check, build)),
):
    for _command in _commands:
        _group.command(_command)
    if _group is not app:
        app.command(_group)
app.register_install_completion_command(help="Install shell completion for bash, zsh or fish.")


@app.command(name="help")
def help_(*topic: str) -> int:
    """Print the help of a command, such as `batch status`.

    Args:
        topic: The command's words; without them the commands.
    """
    _, _, unknown = app.parse_commands(topic)
    if unknown:
        raise UsageError(f"There is no command {unknown[0]!r}; `greenloop help` lists them.")
    app.help_print(topic)
    return 0


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns its exit code. Never lets a traceback through for what a user did."""
    tokens = sys.argv[1:] if argv is None else argv
    if argv is None:
        open_streams()
        repeat_signals()
    for token in tokens:
        if re.search("[\ud800-\udfff]", token):  # undecodable bytes, which no record can hold
            encoding = sys.getfilesystemencoding()
            fault = f"is read as {encoding}; set PYTHONUTF8=1" if encoding != "utf-8" else "is not UTF-8"
            Console().error(f"The argument {token[:200]!a} {fault}.")
            return UsageError.exit_code
    try:
        if argv is None:
            forget_relative_path()
        code = app(
            _specs_last(tokens or ["--help"]), exit_on_error=False, print_error=False, result_action="return_value"
        )
    except CycloptsError as error:
        first = "" if app.parse_commands(tokens)[0] or tokens[0].startswith("-") else tokens[0]
        Console().error(mistyped(first) or elsewhere(error) or f"{error} See --help.")
        return UsageError.exit_code
    except KeyboardInterrupt:
        code = Interrupted.exit_code
    except (GreenloopError, OSError) as error:
        told = unusable(error) if isinstance(error, OSError) else error
        Console().error(str(told))
        code = told.exit_code
        if isinstance(error, OSError) and error.filename is None:  # a full disk: Python would try again at its end
            _leave(code)
    if code == Interrupted.exit_code or threading.active_count() > 1:
        _leave(code or 0)
    return code or 0


def _specs_last(tokens: list[str]) -> list[str]:
    """Return `tokens` with specs that begin with a hyphen (`-`, or a Markdown list) after `--`, not as options."""
    spec = re.compile(r"-(?!-[\w-]+=)(.*\s.*)?", re.DOTALL)
    if "--" in tokens or not any(spec.fullmatch(word) for word in tokens):
        return tokens
    words, apps, _ = app.parse_commands(tokens)
    if words not in ((), ("batch",)):
        return tokens
    flags = {name for each in apps[-1].assemble_argument_collection() if each.hint is bool for name in each.names}
    kept: list[str] = []
    specs: list[str] = []
    for before, word in itertools.pairwise(["", *tokens]):
        is_value = before.startswith("--") and "=" not in before and before not in flags
        (specs if spec.fullmatch(word) and not is_value else kept).append(word)
    return [*kept, "--", *specs] if specs else tokens


@cache
def commands() -> Mapping[str, ArgumentCollection]:
    """Return the arguments of every command, by its words."""

    def below(at: App, words: tuple[str, ...]) -> Iterator[tuple[str, ArgumentCollection]]:
        if at.default_command is not None:
            yield " ".join(words) or RUN, at.assemble_argument_collection(default_parameter=app.default_parameter)
        for name in at:
            if not name.startswith("-"):
                yield from below(at[name], (*words, name))

    return dict(below(app, ()))


def elsewhere(error: CycloptsError) -> str:
    """Return a sentence on the commands that have an unknown option of this one, or on unused words; empty for
    other errors."""
    command = " ".join(error.command_chain or ())
    if isinstance(error, UnusedCliTokensError):
        words = repr(" ".join(error.unused_tokens or ()))[:200]
        if command:
            return f"{command} takes no {words}; see {command} --help."
        return f"{words} stands outside of the spec; put the whole spec in quotes."
    if not isinstance(error, UnknownOptionError):
        return ""
    option = (error.token.keyword or error.token.value).partition("=")[0]
    if option in _OWN_COMMANDS and command == "verify":
        return f"verify has no {option} any more; give {_OWN_COMMANDS[option]}."
    having = [name for name, found in commands().items() if any(option in each.names for each in found)]
    if not having:
        return ""
    *others, last = sorted(having)
    told = f"{', '.join(others)} and {last} have" if others else f"{last} has"
    return f"{command or RUN} has no {option}; {told} it."


def _leave(code: int) -> NoReturn:
    """End the process at once: all is written, and a model that reads a prompt can't be interrupted."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
