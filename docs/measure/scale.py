"""Checks the model of docs/scale.md against runs: `python -m docs.measure.scale [SPECS]` (Linux, extra `scale`).

A provider on loopback takes its time for each reply. One worker gives the constants of the model (the seconds and
the CPU seconds of a spec), first without Ray, then with it; the model then says what one, two and four Ray workers
on this machine do, and each of them is run. `python -m docs.measure.scale driver [SPECS ...]` measures what the
driver alone takes for so many specs: reading, planning, journal, reports, memory. Means nothing on busy cores.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.measure import ROOT

if TYPE_CHECKING:
    from agents.batch.records import EntryResult, Task


from tests.batch.made import Kept, uninterrupted

PAUSE_SECONDS = 0.3
"""The longest pause of the provider between two of the four pieces of a reply."""
WORKERS = (1, 2, 4)
PARTS = ("reading", "planning", "journal", "reports")
"""Of the driver's time."""


# --- the model ---------------------------------------------------------------------------------------------


def throughput(workers: int, waiting: float, cpu: float, cores: int) -> float:
    """Specs a second of a closed network: each worker waits `waiting` seconds a spec for what has no queue (its
    model, disks), and needs `cpu` seconds of one of `cores` processors, for which it may stand in line.

    Exact mean value analysis (Reiser and Lavenberg 1980), with several processors as one fast one behind a delay
    (Seidmann, Schweitzer and Shalev-Oren 1987).
    """
    queued, delay = cpu / cores, waiting + cpu * (cores - 1) / cores
    length = rate = 0.0
    for present in range(1, workers + 1):
        answer = queued * (1 + length)
        rate = present / (delay + answer)
        length = rate * answer
    return rate


def predicted(workers: int, one: dict[str, Any], cores: int) -> float:
    """Specs an hour of `workers`, by what was measured of one."""
    return 3600 * throughput(workers, one["seconds"] - one["busy"], one["busy"], cores)


# --- a batch at work ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reading:
    """The clocks at one moment: the wall's, this process's own, and this machine's processors."""

    wall: float = field(default_factory=time.monotonic)
    own: float = field(default_factory=time.process_time)
    busy_and_stolen: tuple[float, float] = field(default_factory=lambda: processors())


@dataclass
class Watch(Kept):
    """A display that shows nothing, and reads the clocks at each spec's end."""

    readings: list[Reading] = field(default_factory=list)

    def ended(self, result: EntryResult) -> None:
        """Read the clocks."""
        self.readings.append(Reading())


def measured(directory: Path, api_base: str, workers: int, ray: str | None) -> dict[str, Any]:
    """Do the batch in this process; seconds a spec, while all workers were at work."""
    from agents.batch.batch import run_batch
    from agents.batch.entries import read_entries
    from agents.batch.records import Batch
    from agents.settings import Settings

    entries = read_entries([str(directory / "specs")], sys.stdin)
    settings = Settings(model="openai/some-name", api_base=api_base, effort="low", mutation=False)
    out = directory / f"out-{workers}-{ray}"
    watch = Watch()
    batch = Batch(out, entries, settings, os.environ, jobs=workers, ray=ray)
    result = run_batch(batch, watch.showing, uninterrupted)
    first, last = watch.readings[workers], watch.readings[-workers]  # the first begin cold, the last alone
    specs = len(watch.readings) - 2 * workers
    busy, stolen = (
        after - before for before, after in zip(first.busy_and_stolen, last.busy_and_stolen, strict=True)
    )
    size, files = stored(out)
    return {
        "grades": dict(result.counts),
        "seconds": (last.wall - first.wall) / specs,
        "busy": busy / specs,
        "stolen": stolen / (last.wall - first.wall) / len(os.sched_getaffinity(0)),
        "own": (last.own - first.own) / specs,
        "calls": result.usage.calls / len(entries),
        "bytes": size / len(entries),
        "files": files / len(entries),
    }


def compare(count: int) -> None:
    """Measure the constants, predict, run, and print a line for each."""
    from tests.batch.faults.provider import provider_process
    from tests.batch.faults.sittings import KEY
    from tests.batch.faults.specs import tasks

    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory, "specs")
        folder.mkdir()
        for task in tasks(count):
            (folder / f"{task.name}.md").write_text(task.text, encoding="utf-8")
        with provider_process(Path(directory, "log.jsonl"), pause=PAUSE_SECONDS) as served:

            def run(workers: int, ray: str | None) -> dict[str, Any]:
                order = json.dumps([directory, served.api_base, workers, ray])
                child = [sys.executable, "-m", "docs.measure.scale", "do", order]
                ended = subprocess.run(
                    child, env={**os.environ, **KEY}, stdout=subprocess.PIPE, text=True, check=True
                )
                return dict(json.loads(ended.stdout.splitlines()[-1]))

            alone = run(1, None)
            print(f"{count} specs, {alone['calls']:.1f} calls each, {alone['grades']}, {cores} processors")
            print(
                f"one worker, no Ray: {alone['seconds']:.2f} s a spec, of that {alone['busy']:.2f} s of CPU, "
                f"{alone['stolen']:.0%} stolen; "
                f"it leaves {alone['bytes'] / 1000:.1f} KB in {alone['files']:.0f} files",
                flush=True,
            )
            constants = {"without Ray": alone}
            for workers in WORKERS:
                found = run(workers, "local")
                said = ", ".join(
                    f"{predicted(workers, one, cores):.0f} from one worker {how}" for how, one in constants.items()
                )
                constants.setdefault("with Ray", found)
                print(
                    f"{workers} Ray workers: predicted {said}; "
                    f"measured {3600 / found['seconds']:.0f} specs an hour; "
                    f"{found['busy']:.2f} s of CPU a spec, of that the driver's {1000 * found['own']:.0f} ms, "
                    f"{found['stolen']:.0%} stolen",
                    flush=True,
                )


# --- the driver alone --------------------------------------------------------------------------------------


class Copies:
    """An executor that ends each task at once with a result that is a real one but for its id."""

    jobs = 8

    def __init__(self, result: EntryResult) -> None:
        self._result = result

    def submit(self, task: Task) -> Future[EntryResult]:
        """End `task`."""
        done: Future[EntryResult] = Future()
        entry = task.entry
        done.set_result(replace(self._result, id=entry.id, where=entry.where, digest=task.digest))
        return done

    def cancel(self) -> None:
        """Do nothing: nothing runs."""

    def close(self) -> None:
        """Nothing is open."""


def driven(directory: Path, real: Path, count: int) -> dict[str, float]:
    """Seconds of the parts of a batch of `count` specs of which each ends at once as the one in `real` did, and
    what it leaves."""
    import resource

    from agents.batch.batch import digest_of
    from agents.batch.driver import Driver
    from agents.batch.entries import read_entries
    from agents.batch.journal import Journal
    from agents.batch.labels import Report
    from agents.batch.records import Task
    from agents.batch.reports import write_reports
    from agents.batch.supply import Supplier
    from agents.llm_backends.budget import TotalBudget
    from agents.run.resources import models_by_role
    from agents.settings import UNLIMITED, Settings

    out = directory / "out"
    shutil.copytree(real / "out" / "specs", out / "specs")
    with Journal(real / "out", read_only=True) as journal:
        (result,) = journal.results()
    settings = Settings(model="openai/some-name")
    clock = [time.monotonic()]
    entries = read_entries([str(directory / "specs.jsonl")], sys.stdin)
    clock.append(time.monotonic())
    with Journal(out) as journal:
        choices = models_by_role(settings, {"OPENAI_API_KEY": "k"})
        digest = partial(digest_of, settings=settings, choices=choices)
        supplier = Supplier(out, entries, journal, digest, settings.require)
        journal.plan([Task.planned(entry, supplier.digests[entry.id]) for entry in entries])
        clock.append(time.monotonic())
        total = TotalBudget(UNLIMITED, journal.spent())
        Driver(journal, Copies(result), total.check, Watch(), supplier).run()  # type: ignore[arg-type]
        clock.append(time.monotonic())
        results = list(journal.results())
        write_reports(out, Report(results, "consensus", 0, 1.0))
        clock.append(time.monotonic())
    seconds = {part: end - begin for part, (begin, end) in zip(PARTS, pairwise(clock), strict=True)}
    sizes = {path.name: path.stat().st_size / count for path in out.iterdir() if path.is_file()}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**seconds, **sizes, "memory": peak}


def drive(counts: list[int]) -> None:
    """Print two lines for each number of specs."""
    with tempfile.TemporaryDirectory() as real:
        do_one(Path(real))
        for count in counts:
            with tempfile.TemporaryDirectory() as directory:
                Path(directory, "specs.jsonl").write_text("\n".join(little_specs(count)), encoding="utf-8")
                child = [sys.executable, "-m", "docs.measure.scale", "do", json.dumps([directory, real, count])]
                ended = subprocess.run(child, stdout=subprocess.PIPE, text=True, check=True)
            found = json.loads(ended.stdout.splitlines()[-1])
            parts = (f"{name} {1000 * found.pop(name) / count:.2f} ms" for name in PARTS)
            print(f"{count} specs: a spec {', '.join(parts)}; memory at most {found.pop('memory'):.0f} MB")
            print("  bytes a spec: " + ", ".join(f"{name} {size:.0f}" for name, size in sorted(found.items())))


def do_one(directory: Path) -> None:
    """A real batch of one spec in `directory`, whose result and run stand for all others."""
    from tests.batch.adders import KEY, Writer, write_specs, writing

    with writing(Writer()) as provider:
        specs = write_specs(directory, 1)
        command = [sys.executable, str(ROOT / "main.py"), "batch", str(specs), "--out", str(directory / "out")]
        settings = ["--model", "openai/m", "--api-base", provider.api_base, "--strategy", "single"]
        subprocess.run([*command, *settings], env={**os.environ, **KEY}, capture_output=True, check=True)


def little_specs(count: int) -> Iterator[str]:
    """Lines of a JSON Lines file of so many specs."""
    for number in range(count):
        spec = f"Implement add_{number}(x: int) -> int that adds {number}. add_{number}(1) == {number + 1}"
        yield json.dumps({"id": f"add-{number}", "spec": spec})


# --- what is looked at -------------------------------------------------------------------------------------


def processors() -> tuple[float, float]:
    """CPU seconds that all processes of this machine have used since it started, and those that other guests of
    its host took from it (proc(5), /proc/stat)."""
    fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = (int(each) / os.sysconf("SC_CLK_TCK") for each in fields)
    return user + nice + system + irq + softirq, steal


def stored(folder: Path) -> tuple[int, int]:
    """Bytes on the disk and number of all files under `folder`."""
    files = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return sum(stat.st_blocks * 512 for stat in files), len(files)


def main() -> None:
    """Do what the command line says."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["do"]:
        order = json.loads(arguments[1])
        first = Path(order[0])
        did = driven(first, Path(order[1]), order[2]) if len(order) == 3 else measured(first, *order[1:])
        print(json.dumps(did))
    elif arguments[:1] == ["driver"]:
        drive([int(each) for each in arguments[1:]] or [1_000, 10_000])
    else:
        compare(int(arguments[0]) if arguments else 30)


if __name__ == "__main__":
    main()
