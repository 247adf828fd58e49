"""What is left of a heal that does not come to its end, and what a record of one may say."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agents.errors import BudgetSpent, UsageError
from agents.events import Asked, Event, Note, ignore_event
from agents.healing.case import Case
from agents.healing.heal import heal_case
from agents.healing.request import check_recorded
from agents.healing.run import HealOptions, run_heal
from agents.jobs import Jobs
from agents.records import Reply, Request
from agents.records.heal import Answer, Call, HealRequest, HealResult, Observation, Symptom
from agents.roles.ask import LARGE_MODEL
from agents.roles.healer import Healer
from agents.settings import HealSettings, Settings, uses
from agents.storage.run_directory import RunDirectory
from agents.ui.views import listing

from ..support.commands import greenloop
from ..support.heals import Heals
from ..support.proposers import three
from ..support.provider import Streams

HALVES = "def f(x):\n    return x / 0\n\n\nprint(f(4))\n"
HALF = "def f(x):\n    return x / 2\n"


def healed(heals: Heals, emit: Any = ignore_event, **settings: Any) -> HealResult:
    """A heal of `s.py`, in this process."""
    model = Settings(model="openai/tiny-1b", api_base=heals.provider.api_base, work_dir=heals.folder / "work_dir")
    request = HealRequest(path=str(heals.folder / "s.py"))
    environ = {"OPENAI_API_KEY": "k"}
    return run_heal(request, replace(model, **settings), HealOptions(), environ, {}, emit)


def kept(result: HealResult) -> HealResult | None:
    assert result.run_dir is not None
    return RunDirectory(Path(result.run_dir)).read_heal().result


def interrupting(event: Event) -> None:
    """Press Ctrl-C once the first patch was tried."""
    if isinstance(event, Note) and event.text.startswith("Patch 1"):
        raise KeyboardInterrupt


@pytest.mark.thorough
@pytest.mark.parametrize(("how", "code"), [("budget", 5), ("Ctrl-C", 130), ("server", 3)])
def test_a_heal_that_is_stopped_keeps_its_best_patch_and_goes_on(heals: Heals, how: str, code: int) -> None:
    heals.script(HALVES)
    heals.answers(Streams([f"```python\n{HALF}```\n"]), lambda handler: handler.send_document(401, {}))
    emit = interrupting if how == "Ctrl-C" else ignore_event
    result = healed(heals, emit, max_tokens=5 if how == "budget" else None)
    assert result.exit_code == code
    assert result.grade is None
    assert "x / 2" in result.diff
    assert result.error is not None
    if how != "server":
        assert f"heal --resume {shlex.quote(str(result.run_dir))}" in result.error.message
    found = kept(result)
    assert found is not None
    assert (found.diff, found.error) == (result.diff, result.error)
    assert result.run_dir is not None
    assert (Path(result.run_dir) / "heal.patch").read_text() == result.diff
    shown = greenloop(heals.folder, "show", result.run_dir)
    assert "+    return x / 2" in shown.stdout
    heals.replies(*three(HALF)[1:])
    record = Path(result.run_dir, "run.json")
    record.write_text(record.read_text().replace(f'"seconds": {result.seconds}', '"seconds": 1000.0'))
    assert heals.run("--resume", result.run_dir, "--max-tokens", "99") == 0, heals.error
    assert heals.document["grade"] == "consensus"
    assert heals.document["seconds"] > 1000


def test_a_heal_records_its_events_and_notes_and_is_seen_at_work_by_others(heals: Heals) -> None:
    heals.script(HALVES)
    heals.replies("x", HALF)
    states: list[str] = []
    refusals: list[str] = []
    work_dir = heals.folder / "work_dir"

    def look(event: Event) -> None:
        if isinstance(event, Asked) and not states:
            states.append(listing(Jobs(Settings(work_dir=work_dir)))[0]["state"])
            (run,) = (work_dir / "runs").glob("*heal*")
            with pytest.raises(UsageError) as refusal:
                run_heal(
                    HealRequest(path=str(heals.folder / "s.py")),
                    Settings(model="recorded:.", work_dir=work_dir),
                    HealOptions(),
                    {},
                    {},
                    ignore_event,
                    RunDirectory(run),
                )
            refusals.append(str(refusal.value))

    result = healed(heals, look)
    assert states == ["running"]
    assert "Another process is at" in refusals[0]
    assert listing(Jobs(Settings(work_dir=work_dir)))[0]["state"] == "finished"
    assert result.run_dir is not None
    lines = [json.loads(line) for line in (Path(result.run_dir) / "events.jsonl").read_text().splitlines()]
    assert [lines[0]["event"], lines[-1]["event"]] == ["started", "ended"]
    assert (lines[-1]["status"], lines[-1]["grade"]) == ("finished", result.grade)
    assert [line["text"] for line in lines if line["event"] == "note"] == list(result.notes)
    assert result.notes
    assert result.notes[0].startswith("Patch 1")


@pytest.mark.thorough
def test_a_run_directory_that_can_be_written_no_more_is_a_sentence(heals: Heals) -> None:
    heals.script(HALVES)

    def answer(handler: Any) -> None:
        (run,) = (heals.folder / "work_dir" / "runs").iterdir()
        shutil.rmtree(run)
        run.write_text("")
        Streams([f"```python\n{HALF}```\n"])(handler)

    heals.answers(answer)
    assert heals.run("s.py") == 1
    assert heals.document["error"]["kind"] == "storage"
    assert "can't be kept" in heals.document["error"]["message"]


@pytest.mark.thorough
def test_a_finished_heal_keeps_its_result_where_going_on_fails(heals: Heals) -> None:
    heals.script(HALVES)
    heals.alike(HALF)
    result = healed(heals)
    assert result.grade == "consensus"
    assert result.run_dir is not None
    before = (Path(result.run_dir) / "run.json").read_text()
    heals.provider.shutdown()
    heals.provider.server_close()
    assert heals.run("--resume", result.run_dir, "--seed", "7") == 3
    assert (Path(result.run_dir) / "run.json").read_text() == before


@pytest.mark.thorough
def test_a_heal_that_has_written_goes_on_once_that_is_taken_back(heals: Heals) -> None:
    path = heals.script(HALVES)
    heals.alike(HALF)
    assert heals.run("s.py", "--apply", "--expect", "2.0") == 0, heals.error
    run = heals.document["run_dir"]
    assert heals.run("--resume", run) == 2
    assert f"heal --undo {run}" in heals.document["error"]["message"]
    assert greenloop(heals.folder.parent, "heal", "--undo", str(heals.folder / run)).returncode == 0
    assert path.read_text() == HALVES
    assert "As it was before" in greenloop(heals.folder, "heal", "--undo", run).stdout
    assert heals.run("--resume", run, "--apply") == 2  # the replies could be anybody's
    assert path.read_text() == HALVES
    assert "+    return x / 2" in heals.approve("--resume", run)
    assert path.read_text() == HALVES.replace("/ 0", "/ 2")
    shutil.copytree(heals.folder / run, strange := heals.folder.parent / "strange" / "run")
    refused = greenloop(strange.parent, "heal", "--undo", "run")
    assert (refused.returncode, "lies outside of" in refused.stderr) == (2, True)
    assert greenloop(strange.parent, "heal", str(heals.folder), "--undo", "run").returncode == 0
    assert path.read_text() == HALVES


def test_a_result_says_how_its_patch_is_written(heals: Heals) -> None:
    path = heals.script(HALVES)
    heals.alike(HALF)
    model = ("--model", "openai/tiny-1b", "--api-base", heals.provider.api_base)
    given = ("heal", "s.py", "--expect", "2.0", *model)
    shown = greenloop(heals.folder, *given, extra={"OPENAI_API_KEY": "k"}).stdout
    told = shown.partition("Not written yet; to write the patch: heal ")[2].splitlines()[0]
    assert "Written:" not in shown
    heals.approve(*shlex.split(told.removesuffix(" --ask")))
    assert path.read_text() == HALVES.replace("/ 0", "/ 2")


@dataclass(frozen=True)
class Fails(Case):
    """A case that fails until its text is `right`, and then holds for so many runs."""

    text: str
    right: str
    runs: list[str]
    holds: int = 99
    trusted: bool = False
    task: str = "It fails."
    holds_out: bool = False

    @property
    def files(self) -> Mapping[str, str]:
        return {"s.py": self.text}

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        text = changed.get("s.py", self.text)
        self.runs.append(text)
        if text == self.right and self.runs.count(text) <= self.holds:
            return Observation(behavior="right")
        return Observation(Symptom("exception", "ValueError: it"))

    def calls(self, changed: Mapping[str, str]) -> tuple[Call, ...]:
        return ()

    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> list[Answer | None]:
        return [None for _ in calls]


class Late(Fails):
    """One that does not end in time on some runs."""

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        late = Observation(Symptom("limit", "late"), environment="It did not end; give it more by --seconds.")
        return late if seed else super().observe(changed)


@pytest.mark.parametrize(
    ("anyway", "outcome", "why"), [(False, "environment", "--seconds"), (True, "flaky", "late")]
)
def test_what_fails_otherwise_for_what_its_surroundings_lack_is_not_said_to_be_flaky(
    anyway: bool, outcome: str, why: str
) -> None:
    result = heal_case(Late("x", "y", []), Healer(one_reply, LARGE_MODEL, seed=0), max_rounds=1, anyway=anyway)
    assert result.outcome == outcome
    assert why in result.why


def one_reply(request: Request) -> Reply:
    if request.purpose != "patch 1":
        raise BudgetSpent("tokens", 5, 5)
    return Reply("```python\nx = 2\n```", "stop")


def test_the_best_patch_is_handed_out_as_soon_as_it_was_run(tmp_path: Path) -> None:
    found: list[HealResult] = []
    case = Fails("x = 1\n", "x = 2\n", [])
    with pytest.raises(BudgetSpent):
        heal_case(case, Healer(one_reply, LARGE_MODEL, seed=0), max_rounds=2, found=found.append)
    assert [(each.leader, each.grade, each.files) for each in found] == [("patch1", None, {"s.py": "x = 2\n"})]


def test_a_patch_that_does_not_hold_when_it_is_run_again_is_handed_out_no_more(tmp_path: Path) -> None:
    found: list[HealResult] = []
    case = Fails("x = 1\n", "x = 2\n", [], holds=1)
    healer = Healer(one_reply, LARGE_MODEL, seed=0)
    with pytest.raises(BudgetSpent):
        heal_case(case, healer, max_rounds=2, patches=1, found=found.append)
    assert [each.leader for each in found] == ["patch1", None]


@pytest.mark.parametrize(
    "changes",
    [
        {"path": "/etc/passwd"},
        {"path": "link.py"},
        {"path": ".git/hooks/pre-commit"},
        {"path": "sub/.env"},
        {"data": ("key.pem",)},
        {"tests": ("../outside/test_it.py::test_it",)},
        {"data": ("/etc",)},
        {"stdin": "../outside/in"},
    ],
)
def test_a_record_names_no_file_elsewhere(
    tmp_path: Path, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "strange"
    folder.mkdir()
    (folder / "link.py").symlink_to("/etc/passwd")
    monkeypatch.chdir(folder)
    own = HealRequest(path=str(folder / "s.py"))
    here = HealRequest(path=".")
    check_recorded(own, here)
    with pytest.raises(UsageError, match="The record of this heal names"):
        check_recorded(replace(own, **changes), here)
    with pytest.raises(UsageError, match="can't be read"):
        check_recorded(replace(own, path="s\0.py"), here)
    named = ("/etc", "../outside", ".git", "sub/.env", "key.pem")
    check_recorded(replace(own, **changes), replace(here, data=named))  # by the user, too


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"expect": "x"}, "--expect is"),
        ({"expect_exit": 0}, "--expect-exit"),
        ({"expect_output": True}, "--expect-output"),
        ({"expect_file": ("a.csv",)}, "--expect-file"),
        ({"keep": ("-v",)}, "--keep"),
        ({"may_change": ("*.py",)}, "--may-change"),
        ({"tests": ("t.py::test_x",)}, "--test"),
        ({"arguments": ("-v",)}, "behind --"),
    ],
)
def test_what_would_change_nothing_is_refused_where_a_heal_is_gone_on_with(
    tmp_path: Path, given: dict[str, Any], option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own, here = HealRequest(path=str(tmp_path / "s.py")), HealRequest(path=".")
    check_recorded(own, replace(here, expect_call=("f(1) == 2",), seconds=20.0, stdin="in", environment=("A",)))
    with pytest.raises(UsageError, match=f"{option}.*leave it out, or begin a new heal"):
        check_recorded(own, replace(here, **given))


def test_a_record_takes_no_time_and_no_variable_that_is_not_given(heals: Heals) -> None:
    heals.script(HALVES)
    request = {"path": str(heals.folder / "s.py"), "seconds": 60, "environment": ["OPENAI_API_KEY"]}
    record = {"id": "x", "greenloop_version": "1", "created": "", "status": "running", "settings": {}}
    heals.script(json.dumps({**record, "request": request}), "work_dir/runs/x/run.json")
    assert heals.run("--resume", "x", "--env", "OPENAI_API_KEY") == 2
    assert "was begun with --seconds 60" in heals.document["error"]["message"]
    assert heals.run("--resume", "x", "--seconds", "60") == 2
    assert "The variable OPENAI_API_KEY is not given" in heals.document["error"]["message"]
    assert heals.requests == []


def test_a_strange_record_sends_no_file_of_the_users_to_a_model(heals: Heals) -> None:
    secret = heals.folder.parent / "secret.py"
    secret.write_text("raise ValueError('sk-mine')\n")
    request = {"path": str(secret), "expect": "x"}
    record = {"id": "x", "greenloop_version": "1", "created": "", "status": "running"}
    heals.script(json.dumps({**record, "request": request, "settings": {}}), "work_dir/runs/x/run.json")
    heals.alike(HALF)
    assert heals.run("--resume", "x") == 2
    assert "lies outside of" in heals.document["error"]["message"]
    assert heals.requests == []
    shown = greenloop(
        heals.folder, "heal", str(secret.parent), "--resume", "x", "--show-prompt", "--model", "openai/x"
    )
    assert "sk-mine" in shown.stdout  # the control: named by the user, it is read


def test_what_the_command_does_not_take_makes_no_difference_to_a_heal(heals: Heals) -> None:
    others: dict[str, Any] = {
        "code_writer_model": "recorded:none", "test_writer_model": "recorded:none",
        "critic_model": "recorded:none", "effort": "high", "drafts": 9,
        "temperature": 1.9, "mutation": False, "packages": ("no-such-package",),
        "strategy": "single", "approve": "all", "approve_seconds": 0.1,
    }  # fmt: skip
    assert set(others) == set(uses()) - set(uses(HealSettings))
    requests = []
    for settings in ({}, others):
        heals.script(HALVES)
        heals.alike(HALF)
        heals.provider.requests.clear()
        result = healed(heals, **settings)
        requests.append([result.outcome, result.grade, result.diff, heals.provider.requests[:]])
    assert requests[0] == requests[1]
    assert requests[0][0] == "healed"
