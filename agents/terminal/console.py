"""The only module that prints: progress on standard error, results on standard output."""

from __future__ import annotations

import itertools
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from ..events import Answered, BoardStarted, Event, Fetching, Note, Ruled, RunStarted
from ..settings import in_ci
from ..syntax.clean_text import clean

if TYPE_CHECKING:
    from rich.console import Console as RichConsole
    from rich.console import RenderableType
    from rich.live import Live

    from ..records import RunResult, Verdict
    from ..records.heal import HealResult
    from ..sandbox.check import CheckResult
    from .live import LiveView

GRADE_STYLES = {
    "verified": "bold green",
    "consensus": "bold green",
    "contested": "bold yellow",
    "failed": "bold red",
}
ATTACK_STYLES = {"stopped": "green", "known residual": "yellow", "unprovable": "dim"}
"""Styles by result; others are red."""


class Console:
    """Output of one command, with colours and a live display where the terminal has them."""

    def __init__(self, *, quiet: bool = False, color: bool = True) -> None:
        self.quiet = quiet
        self._color = color and not os.environ.get("NO_COLOR") and not in_ci()
        self._fetched_to = 0.0
        self._live: LiveView | None = None
        self._drawing: Live | None = None
        self._errors: RichConsole | None = None

    @property
    def out(self) -> RichConsole:
        """Standard output."""
        return self._console(sys.stdout)

    @property
    def err(self) -> RichConsole:
        """Standard error."""
        if self._errors is None:
            self._errors = self._console(sys.stderr)
        return self._errors

    @property
    def is_live(self) -> bool:
        """True if progress is drawn live: on a terminal outside CI, unless quiet."""
        return not self.quiet and self.err.is_terminal and not in_ci()

    def _console(self, stream: TextIO) -> RichConsole:
        from .safe_console import SafeConsole

        return SafeConsole(stream, color=self._color)

    @contextmanager
    def progress(self) -> Iterator[None]:
        """Show progress while the body runs: live on a terminal, line by line elsewhere, not at all if quiet."""
        if not self.is_live:
            yield
            return
        from .live import LiveView

        self._live = LiveView()
        try:
            with self.drawn(self._live) as self._drawing:
                yield
        finally:
            self._live = self._drawing = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the live display during the body, which asks the user."""
        drawing = self._drawing
        if drawing is not None:
            drawing.stop()
        try:
            yield
        finally:
            if drawing is not None and drawing is self._drawing:
                drawing.start()

    def say(self, text: str) -> None:
        """Print lines to standard error, as they are."""
        self.err.print(text)

    def drawn(self, view: RenderableType) -> Live:
        """Return a live display of `view` for a `with` block; it restores the terminal at the end."""
        from rich.live import Live

        return Live(view, console=self.err, refresh_per_second=4, transient=True, redirect_stdout=False)

    def emit(self, event: Event) -> None:
        """Show an event of a run."""
        if isinstance(event, Note) and event.warning:
            self.err.print(event.text, style="yellow")
        elif not self.quiet:
            if self._live is not None:
                self._live.on_event(event)
            for line in self._lines(event):
                self.err.print(line)

    def _lines(self, event: Event) -> list[str]:
        from .live import answered_line, ruled_line

        match event:
            case RunStarted():
                model = f"Model: {event.model}. {event.reason}"
                return [model, f"Run: {event.run_dir} (sandbox: {event.sandbox})"]
            case Note():
                return [event.text]
            case BoardStarted() if self._live is None:
                return [f"Round {event.round}: testing {event.candidates} candidates with {event.tests} tests"]
            case Answered():
                return [answered_line(event)]
            case Ruled():
                return [ruled_line(event)]
            case Fetching() if self._live is None and event.done / event.total >= self._fetched_to:
                share = event.done / event.total
                self._fetched_to = max(share, 0.001) + 0.1  # a line for each tenth
                return [f"Fetching the model's weights from {event.source}: {share:.0%}"]
        return []

    def error(self, message: str) -> None:
        """Print an error to standard error, on one line: a name in it may have line ends."""
        escaped = message.replace("\r", "\\r").replace("\n", "\\n")
        self.err.print(f"greenloop: {escaped}", style="red")

    def document(self, document: object, stream: TextIO) -> None:
        """Print one JSON document: a record, or a list or mapping that may hold records."""
        text = json.dumps(document, indent=2, ensure_ascii=True, default=asdict)
        with suppress(BrokenPipeError):
            stream.write(text.replace("##", "#\\u0023") + "\n" if in_ci() else f"{text}\n")  # no CI command
            stream.flush()

    def result(self, result: RunResult) -> None:
        """Print the end of a run, for a person."""
        from .next_steps import ending_lines, summary_lines
        from .safe_console import source_text

        out = self.out
        if result.code is not None and not self.quiet:
            out.print(source_text(result.code))
        if result.error is not None:
            self.error(result.error.message)
        if result.grade is not None:
            self._headed(result.grade, GRADE_STYLES[result.grade], f": {result.why}")
        if result.track_record is not None:
            out.print(str(result.track_record))
        self.lines(ending_lines(result, whole=False))
        if result.isolation == "in-process":
            out.print("The tests ran in one process with the code: a lower assurance.", style="yellow")
        self.lines(summary_lines(result))
        self.into(result)

    def healed(self, result: HealResult) -> None:
        """Print the end of a heal, for a person."""
        from .next_steps import heal_lines

        if result.diff and not self.quiet:
            self.diff(result.diff)
        head, style = str(result.outcome), "bold yellow"
        if head in ("healed", "unhealed"):
            head, style = f"{head}, {result.grade}", GRADE_STYLES[result.grade or "failed"]
        if result.error is not None:
            self.error(result.error.message)
        else:
            self._headed(head, style, f": {result.why}")
        self.lines(heal_lines(result))

    def _headed(self, head: str, style: str, rest: str = "") -> None:
        """Print a line whose beginning has a style."""
        from rich.text import Text

        self.out.print(Text(head, style=style).append(rest, style="none"))

    def diff(self, diff: str) -> None:
        """Print a unified diff."""
        from .safe_console import source_text

        self.out.print(source_text(diff, "diff"))

    def into(self, result: RunResult) -> None:
        """Print the outcome of `--into`."""
        if (written := result.into) is None:
            return
        if not self.quiet and written.diff:
            self.diff(written.diff)
        if written.note:
            self.out.print(f"Note: {written.note}")
        told = f"Written into {written.file}: {written.name} (the file before: {written.backup})"
        self.out.print(told if written.backup else f"{written.file} has this {written.name} already.")

    def verdict(self, verdict: Verdict) -> None:
        """Print a verdict on two files, for a person."""
        for outcome in verdict.outcomes:
            self._headed(f"{outcome.status:8}", "green" if outcome.status == "passed" else "red", outcome.test_id)
            if outcome.status != "passed" and outcome.detail:
                self._headed(clean(outcome.detail), "dim")
        noticed = ((one.test_id, f"{one.noticed} of {one.tried}") for one in verdict.strength if one.noticed)
        self.lines(f"{test_id}: noticed {share} changed answers" for test_id, share in noticed)
        self.lines(f"refused {refusal.test_id}: {refusal.reason}" for refusal in verdict.refused)
        self.lines(f"Note: {note}" for note in verdict.notes)
        style = "bold green" if verdict.kind == "passed" else "bold red"
        self._headed(verdict.kind, style, f": {verdict.reason}" if verdict.reason else "")
        self.out.print(f"{verdict.isolation}, in {verdict.backend}, {verdict.seconds:.2f} s")

    def attacks(self, name: str, results: Iterator[CheckResult]) -> list[CheckResult]:
        """Print a line for each attack as it is tried, and return all results."""
        from rich.text import Text

        tried = []
        self.out.print(f"Attacks on the sandbox {name}:")
        for result in results:
            style = ATTACK_STYLES.get(result.status, "red")
            line = Text(f"{result.number:3} {result.title}: ").append(result.status, style=style)
            self.out.print(line.append(f" ({result.detail})" if result.detail else "", style="dim"))
            tried.append(result)
        stopped = sum(result.status == "stopped" for result in tried)
        self.out.print(f"{stopped} of {len(tried)} stopped")
        return tried

    @contextmanager
    def counting(self, total: int | None, what: str, *, every: float = 0.0) -> Iterator[Callable[[str], None]]:
        """Show progress up to `total` (None: unknown) during the body: a bar on a terminal, elsewhere a line for
        each item, at most one in `every` seconds. `what` names the items: many of a known total, else one of them.

        The body calls the yielded function with a line on each finished item; thread-safe.
        """
        if not self.err.is_terminal or in_ci():
            done = itertools.count(1)
            last = -math.inf

            def tell(line: str) -> None:
                nonlocal last
                count, now = next(done), time.monotonic()
                if now - last >= every:
                    last = now
                    head = f"{what} {count}" if total is None else f"{count} of {total} {what}"
                    self.err.print(f"{head}: {line}")

            yield tell
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        described = TextColumn("{task.description}", markup=False)
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), described)
        with Progress(*columns, console=self.err, transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda line: bar.update(task, advance=1, description=line)

    def table(self, title: str, head: Sequence[str], rows: Iterable[Sequence[str]], labels: int = 1) -> None:
        """Print a table to standard output; the first `labels` columns are words, the rest figures."""
        from rich.table import Column, Table

        columns = [Column(name, justify="left" if index < labels else "right") for index, name in enumerate(head)]
        table = Table(*columns, title=title, title_justify="left")
        for row in rows:
            table.add_row(*row)
        self.out.print(table)

    def lines(self, lines: Iterable[RenderableType]) -> None:
        """Print plain lines, or what rich draws, to standard output."""
        for line in lines:
            self.out.print(line)
