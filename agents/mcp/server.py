"""The server's tools, on standard input and output. Sandbox, models and directories are no arguments of any."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import ConfigDict, Field

from .. import __version__
from ..audit.comparison import Comparison
from ..audit.documents import document, for_agent
from ..errors import GreenloopError, UsageError
from ..files import contained
from ..jobs import ENDING_SECONDS, Job, Jobs
from ..sandbox import SandboxLimits, open_sandbox
from ..sandbox.packages import open_interpreter
from ..settings import Effort, Settings
from ..verifier.document import verdict_document
from ..verifier.verify import averify

MOST_BYTES = 256 * 1024
PROGRESS_SECONDS = 5.0
LONGEST_WAIT = 50
INSTRUCTIONS = (
    "greenloop turns specs into tested Python modules, mends code, and verifies code with tests. Believe its "
    "grades: `verified` and `consensus` are successes, `contested` leaves doubts or questions (see disputes), "
    "`failed` code fails a trusted test. "
    "`audit`, where it is offered, says what a change to a repository is worth. "
    "A run that takes longer than the wait goes on: follow it with run_status."
)
Wait = Annotated[int, Field(ge=1, le=LONGEST_WAIT, description="Seconds to wait for the result")]
Seconds = Annotated[float, Field(ge=10, le=1800, description="Wall time for all runs of the tests")]
_LATE_SECONDS = 60.0
_READS = ToolAnnotations(read_only_hint=True)


class Tools:
    """The tools of one server, as methods."""

    def __init__(self, jobs: Jobs, roots: Sequence[Path] = ()) -> None:
        """`roots` are the folders below which `audit` reads."""
        self._jobs = jobs
        self._roots = roots

    async def verify(self, code: str, tests: str) -> dict[str, Any]:
        """Run pytest `tests` against the Python module `code` in a sandbox. The tests import it as `user_code`.

        Only the verdict `passed` means that every test ran and passed, and that a wrong answer would have failed
        some. The code can't forge it.
        """
        _check_size(code, tests)
        settings = self._jobs.settings
        limits = SandboxLimits(wall_seconds=10.0)
        with _told():
            verdict = await averify(
                code, tests, sandbox=settings.sandbox, seconds=limits.wall_seconds, python=settings.python
            )
        return verdict_document(verdict, limits)

    async def generate(
        self,
        spec: str,
        context: Context[Any, Any],
        examples: str = "",
        tests: str = "",
        effort: Effort | None = None,
        wait_seconds: Wait = 45,
    ) -> dict[str, Any]:
        """Turn a spec ("Implement name(argument: type) -> type ...") into a tested Python module.

        `examples` are lines such as `name(1) == 2`: trusted, as are pytest `tests` (they import user_code); one
        that can't be read is refused. The spec may have front matter, which names no file.
        Returns the result, or `state` running after `wait_seconds`: then call run_status.
        """
        _check_size(spec, examples, tests)
        changes = {"effort": effort} if effort is not None else {}
        begin = partial(self._jobs.generate, spec, examples, tests, **changes)
        return await self._waited(begin, context, wait_seconds)

    async def heal(
        self, code: str, context: Context[Any, Any], tests: str = "", expect: str = "", wait_seconds: Wait = 45
    ) -> dict[str, Any]:
        """Mend a Python module that fails its pytest `tests` (they import user_code), or a script that crashes.

        `expect` is a text that a script's output has to hold. Returns a diff and a grade; writes nothing.
        """
        _check_size(code, tests, expect)
        begin = partial(self._jobs.heal, code, tests or None, expect or None)
        return await self._waited(begin, context, wait_seconds)

    async def audit(
        self, folder: str, base: str, context: Context[Any, Any], seconds: Seconds = 120, strict: bool = False
    ) -> dict[str, Any]:
        """Say what a change to the repository in `folder` is worth, compared with the commit `base` (HEAD, main).

        Old and new tests run on old and new code: tests that are broken, gone or weaker, and code or settings that
        make them pass, are listed in `findings`. Only `passed` is a success. Takes a minute or more.
        """
        _check_size(folder, base)
        place: Path | None = None
        for root in self._roots:
            with suppress(UsageError):
                place = place or contained(Path(folder), root)
        if place is None:
            raise ToolError(f"{folder} is not below {', '.join(map(str, self._roots))}; name a folder that is.")
        job, settings = Job("audit"), self._jobs.settings

        def say(text: str) -> None:
            job.said, job.told = text, job.told + 1

        def audited() -> dict[str, Any]:
            with closing(open_sandbox(settings.sandbox, open_interpreter(settings.python))) as sandbox:
                project = Comparison(place, [], sandbox, seconds, lambda: job.cancellation.cancelled, say)
                report = project.report_since(base, strict=strict)
            return {**document(report), "findings": for_agent(report) if not report.passed else []}

        pool = ThreadPoolExecutor(1)
        future = pool.submit(audited)
        pool.shutdown(wait=False)
        job.future = future  # type: ignore[assignment]
        with _told():
            try:
                await self._wait(job, context, seconds + _LATE_SECONDS)
            finally:
                await _ended(job)
            return await anyio.to_thread.run_sync(future.result)

    async def run_status(self, run: str, context: Context[Any, Any], wait_seconds: Wait = 45) -> dict[str, Any]:
        """Follow a run of `generate` or `heal`: its result, or its state after `wait_seconds`."""
        return await self._document(run, lambda job: self._wait(job, context, wait_seconds))

    async def answer(
        self, run: str, lines: str, context: Context[Any, Any], wait_seconds: Wait = 45
    ) -> dict[str, Any]:
        """Answer the open questions of a run, and let it go on with that as trusted: a line for each answer.

        `f(1) == 2` or `f(0) raises ValueError` says what is right, `wrong: test_name` that a test is wrong,
        `any: f(0)` that the spec says nothing about a call.
        """
        _check_size(run, lines)
        return await self._waited(partial(self._jobs.answer, run, lines), context, wait_seconds)

    async def stop_run(self, run: str) -> dict[str, Any]:
        """Stop a run of this server; what was found is kept, and nothing that was answered is asked again."""
        return await self._document(run, _ended)

    async def _document(self, run: str, first: Callable[[Job], Awaitable[None]]) -> dict[str, Any]:
        """Return what there is to be told of a run, of one of this server after `first`."""
        _check_size(run)
        if (job := self._jobs.find(run)) is None:
            with _told():
                return await anyio.to_thread.run_sync(self._jobs.recorded, run)
        await first(job)
        return job.document()

    async def _waited(self, begin: Callable[[], Job], context: Context[Any, Any], seconds: int) -> dict[str, Any]:
        """Begin a run and wait for it. Cancelled, the run is stopped."""
        with _told():
            job = await anyio.to_thread.run_sync(begin)
        try:
            await self._wait(job, context, seconds)
        except anyio.get_cancelled_exc_class():
            await _ended(job)
            raise
        return job.document()

    @staticmethod
    async def _wait(job: Job, context: Context[Any, Any], seconds: float) -> None:
        """Wait for a run, and report progress, which rises."""
        progress = 0.0
        end = anyio.current_time() + seconds
        while not job.future.done() and (left := end - anyio.current_time()) > 0:
            await context.report_progress(progress := max(progress + 1, float(job.told)), message=job.said)
            next_report = anyio.current_time() + min(PROGRESS_SECONDS, left)
            while not job.future.done() and anyio.current_time() < next_report:
                await anyio.sleep(0.1)


async def _ended(job: Job) -> None:
    """Cancel a run and wait until it has ended, also where this request is cancelled."""
    job.cancellation.cancel()
    with anyio.CancelScope(shield=True):
        await anyio.to_thread.run_sync(lambda: wait([job.future], ENDING_SECONDS))


@contextmanager
def _told() -> Iterator[None]:
    """Make of greenloop's errors the tool's."""
    try:
        yield
    except GreenloopError as error:
        raise ToolError(str(error)) from error


def _check_size(*texts: str) -> None:
    if sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) > MOST_BYTES:
        raise ToolError(f"The arguments have more than {MOST_BYTES // 1024} KB; give less.")


def _strict(tool: Tool) -> Tool:
    """The tool with a schema that refuses arguments it does not know."""
    model = tool.fn_metadata.arg_model
    config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")
    strict: Any = type(model.__name__, (model,), {"model_config": config, "__module__": __name__})
    metadata = tool.fn_metadata.model_copy(update={"arg_model": strict})
    return tool.model_copy(update={"fn_metadata": metadata, "parameters": strict.model_json_schema(by_alias=True)})


def server(settings: Settings, roots: Sequence[Path] = ()) -> MCPServer[Any]:
    """The server, whose runs end with it."""
    jobs = Jobs(settings)
    tools = Tools(jobs, roots)

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(jobs.close)

    reading: list[Callable[..., Any]] = [tools.verify, tools.run_status, *([tools.audit] if roots else [])]
    made = [_strict(Tool.from_function(each, annotations=_READS)) for each in reading]
    doing = (tools.generate, tools.heal, tools.answer, tools.stop_run)
    made += [_strict(Tool.from_function(each)) for each in doing]
    logging.getLogger("mcp").setLevel(logging.ERROR)
    return MCPServer(
        "greenloop",
        version=__version__,
        instructions=INSTRUCTIONS,
        tools=made,
        lifespan=lifespan,
        log_level="ERROR",
    )
