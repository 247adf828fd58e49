"""Run directories that somebody else wrote: no link out of them is followed, nothing but files is read."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents.errors import UsageError
from agents.events import RunEnded
from agents.jobs import Jobs
from agents.llm_backends.recorded import ReplyStore, model_slug, request_key
from agents.records import Dispute, Example, ForkedFrom, Message, Reply, Request, Usage
from agents.records.heal import HealRecord, HealRequest, HealResult, Observation, Patch, Place, Trial
from agents.run.event_log import EventLog, is_written
from agents.run.fork import Fork, Segment, read_fork
from agents.settings import Settings
from agents.storage import run_directory as runs
from agents.storage.json_form import dumped
from agents.storage.publish import publish
from agents.storage.run_directory import RunDirectory
from agents.ui.server import _lines_from
from agents.ui.views import calls_document, listing, run_document

from ..support.commands import greenloop
from .test_run_directory import record, round_with

SECRET = "the user's own"
REQUEST = Request("code_writer", (Message("user", "Write."),), 10, 0.0, 0)
REPLY = Reply("x = 1", "stop", Usage(calls=1), "m")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the user's outside of the folder that is read."""
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "secret.txt"
    path.write_text(SECRET)
    return path


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    made = runs.create(tmp_path / "work_dir", record())
    made.append(round_with())
    made.save("user_code.py", "x = 1\n")
    made.save("test_user_code.py", "")
    return made


def put(path: Path, secret: Path, kind: str) -> None:
    """Put a link to the secret, a pipe, a folder or a socket in place of `path`."""
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to(secret)
        assert path.read_text() == SECRET, "control: a plain read follows it"
    elif kind == "socket":
        os.mknod(path, stat.S_IFSOCK | 0o600)
    else:
        (Path.mkdir if kind == "folder" else os.mkfifo)(path)


READ: dict[str, Callable[[RunDirectory], object]] = {
    "run.json": RunDirectory.read,
    "user_code.py": RunDirectory.code,
    "test_user_code.py": RunDirectory.tests,
    "fork.json": lambda run: run.load("fork.json"),
    "approvals.json": lambda run: run.load("approvals.json"),
    "rounds/01/round.json": RunDirectory.rounds,
    "questions.txt": lambda run: run.append(round_with()),
}


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "socket"])
@pytest.mark.timeout(20)
def test_a_file_that_is_none_of_the_run_is_refused(run: RunDirectory, secret: Path, name: str, kind: str) -> None:
    put(run.path / name, secret, kind)
    with pytest.raises(UsageError, match=r"a link out of|no regular file|can't be read|no run in"):
        READ[name](run)


def test_a_file_without_an_end_is_refused(run: RunDirectory) -> None:
    with (run.path / "run.json").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UsageError, match="longer than 64 MiB"):
        run.read()


@pytest.mark.parametrize("folder", ["rounds", "rounds/01", "attempt", "adopted", "earlier"])
def test_nothing_is_written_or_moved_through_a_linked_folder(run: RunDirectory, secret: Path, folder: str) -> None:
    target = run.path / folder
    if target.exists():
        target.rename(secret.parent / "moved")
    target.symlink_to(secret.parent)
    with pytest.raises(UsageError, match="a link out of"):
        run.append(round_with()) if folder.startswith("rounds") else _attempt(run)
    assert sorted(path.name for path in secret.parent.iterdir() if path.name != "moved") == ["secret.txt"]


def _attempt(run: RunDirectory) -> None:
    attempt = run.begin_attempt()
    attempt.write(record())
    attempt.append(round_with())
    run.adopt_attempt()


@pytest.mark.parametrize("place", ["work_dir", "work_dir/runs", "work_dir/runs/ID"])
def test_a_linked_folder_of_runs_is_refused(
    tmp_path: Path, secret: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    working = tmp_path / "checkout"
    working.mkdir()
    monkeypatch.chdir(working)
    link = working / place.replace("ID", record().id)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(secret.parent)
    with pytest.raises(UsageError, match="a link out of"):
        runs.create(Path("work_dir"), record())
    assert [path.name for path in secret.parent.iterdir()] == ["secret.txt"]


def test_a_work_dir_that_the_user_names_elsewhere_is_fine(
    tmp_path: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    runs.create(secret.parent / "work", record())
    assert runs.find(secret.parent / "work", "latest").read() == record()


@pytest.mark.parametrize("kind", ["link", "pipe"])
@pytest.mark.timeout(20)
def test_an_event_log_is_written_into_a_file_of_the_run_alone(run: RunDirectory, secret: Path, kind: str) -> None:
    put(run.events, secret, kind)
    log = EventLog(run.events)
    log.add(RunEnded("finished", "verified", 0, None))
    assert log.fault is not None
    assert secret.read_text() == SECRET
    assert not is_written(run.events)


@pytest.mark.timeout(30)
def test_hostile_runs_break_no_list_and_no_other_run(run: RunDirectory, secret: Path, tmp_path: Path) -> None:
    work_dir = run.path.parent.parent
    hostile: dict[str, Callable[[Path], object]] = {
        "30000101-pipe": lambda path: os.mkfifo(path),
        "30000102-link": lambda path: path.symlink_to(secret),
        "30000103-deep": lambda path: path.write_text("[" * 200_000),
        "30000104-text": lambda path: path.write_text('"kind"'),
        "30000105-none": lambda path: path.write_text(dumped(replace(record("30000105-none"), models={}))),
        "30000106-heal": lambda path: path.write_text('{"kind": "heal"}'),
        "30000107-bytes": lambda path: path.write_bytes(b"\xff\xfe\x00"),
        "30000109-float": lambda path: path.write_text(
            re.sub(r'"seconds": ?[^,]*', '"seconds": 1e400', dumped(record("30000109-float")), count=1)
        ),
    }
    for name, put_there in hostile.items():
        (run.path.parent / name).mkdir()
        put_there(run.path.parent / name / "run.json")
    (run.path.parent / "30000108-linked").symlink_to(secret.parent)
    rows = {row["name"]: row["state"] for row in listing(Jobs(Settings(work_dir=work_dir)))}
    assert rows.pop(run.path.name) in ("running", "interrupted")
    assert set(rows.values()) == {"unreadable"}
    assert "30000101-pipe" not in rows
    assert runs.find(work_dir, run.path.name).read() == record()
    listed = greenloop(tmp_path, "show")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout.count("unreadable") == len(rows)
    assert SECRET not in listed.stdout
    for name in [*hostile, "30000108-linked"]:
        shown = greenloop(tmp_path, "show", name)
        assert shown.returncode == 2, shown.stderr
        assert shown.stderr.startswith("greenloop: ")
        assert SECRET not in shown.stdout + shown.stderr


@pytest.mark.parametrize("part", ["examples", "user_tests", "wrong_tests", "unspecified"])
def test_a_record_whose_tests_are_no_python_is_one_sentence(run: RunDirectory, part: str) -> None:
    path = run.path / "run.json"
    document = json.loads(path.read_text())
    broken = {"examples": [{"code": "f(x) for", "source_line": ""}], "user_tests": "def f(:"}
    document["spec"][part] = broken.get(part, ["f(x) for"])
    path.write_text(json.dumps(document))
    with pytest.raises(UsageError, match="a test that is not Python"):
        run.read()


def test_a_round_whose_tests_are_no_python_is_one_sentence(run: RunDirectory) -> None:
    path = run.path / "rounds" / "01" / "round.json"
    document = json.loads(path.read_text())
    document["board"]["tests"][0]["source"] = "def f(:"
    path.write_text(json.dumps(document))
    with pytest.raises(UsageError, match="a test that is not Python"):
        run.rounds()


@pytest.mark.parametrize("part", ["verdicts", "leader"])
def test_a_round_whose_parts_do_not_fit_is_one_sentence(run: RunDirectory, tmp_path: Path, part: str) -> None:
    path = run.path / "rounds" / "01" / "round.json"
    document = json.loads(path.read_text())
    if part == "leader":
        document["ruling"]["leader"] = "nobody"
    else:
        document["board"]["verdicts"] = []
    path.write_text(json.dumps(document))
    shown = greenloop(tmp_path, "show", "latest")
    assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)


def test_the_page_shows_nothing_of_a_run_that_hides_or_reorders(run: RunDirectory, tmp_path: Path) -> None:
    hidden = "a\x1b]0;title\x07\u202eb"
    trial = Trial(Patch(hidden, Place(hidden, "file", "", 1, 1), {hidden: hidden}), Observation())
    result = HealResult(outcome="unhealed", trials=(trial,), leader=hidden, model=hidden)
    run.append(round_with(Dispute(hidden, hidden, (hidden,))))
    run.write(replace(record(), models={"code_writer": hidden}, notes=(hidden,), model_reason=hidden))
    heal = HealRecord(
        id="h", greenloop_version=hidden, created=hidden, status="finished", request=HealRequest(path=hidden),
        settings={}, result=result,
    )  # fmt: skip
    runs.create(tmp_path / "work_dir", heal)
    request = {"role": "r", "purpose": "p", "messages": [{"role": hidden, "content": hidden}]}
    (run.replies / "m").mkdir(parents=True)
    (run.replies / "m" / "a.json").write_text(json.dumps({"request": request, "reply": {"text": hidden}}))
    run.events.write_text(json.dumps({"event": "note", "text": hidden}) + "\n")
    jobs = Jobs(Settings(work_dir=tmp_path / "work_dir"))
    told = [listing(jobs), *(run_document(jobs, name) for name in (run.path.name, "h"))]
    calls, (lines, _) = calls_document(jobs, run.path.name), _lines_from(run.events, 0)
    assert calls["calls"]
    for shown in (*told, calls, *map(json.loads, lines)):
        assert not re.search(r"\\u(001b|202e)", json.dumps(shown).replace(r"\\u", "")), shown


def test_the_page_shows_nothing_from_behind_a_link_of_a_run(run: RunDirectory, tmp_path: Path) -> None:
    elsewhere = RunDirectory(tmp_path / "another")
    elsewhere.write(record())
    ReplyStore(elsewhere.replies, "m").save(REQUEST, REPLY)
    jobs = Jobs(Settings(work_dir=run.path.parents[1]))
    run.replies.symlink_to(elsewhere.replies)
    assert list(run.replies.glob("*/*.json")), "the control: a listing follows it"
    assert calls_document(jobs, run.path.name) == {"calls": []}
    (run.path.parent / "linked").symlink_to(elsewhere.path)
    with pytest.raises(UsageError, match="a link out of"):
        jobs.directory("linked")
    assert [row["name"] for row in listing(jobs)] == [run.path.name], "one link hides no run"


def test_an_example_that_is_no_python_is_one_sentence(run: RunDirectory, tmp_path: Path) -> None:
    spec = replace(record().spec, examples=(Example("f(x) for", ""),))
    run.append(round_with(Dispute("t", "f(1)", ("1", "2"))))
    run.write(replace(record(), spec=spec))
    shown = greenloop(tmp_path, "show", "latest")
    assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)
    run.write(record())
    run.save_record("fork.json", Fork(ForkedFrom("p", 1), (Segment(1, {}, (), spec),), "p"))
    with pytest.raises(UsageError, match="a test that is not Python"):
        read_fork(run)


@pytest.mark.parametrize("kind", ["link", "pipe"])
@pytest.mark.timeout(20)
def test_a_recorded_reply_is_a_file_of_its_store(tmp_path: Path, secret: Path, kind: str) -> None:
    store = ReplyStore(tmp_path / "replies", "m")
    store.save(REQUEST, REPLY)
    path = tmp_path / "replies" / model_slug("m") / f"{request_key(REQUEST)}.json"
    if kind == "link":
        path.rename(secret)
        path.symlink_to(secret)
    else:
        path.unlink()
        os.mkfifo(path)
    assert store.find(REQUEST) is None
    assert ReplyStore(tmp_path / "replies").find(REQUEST) is None
    assert "a link out of" in store.notes[0] or "no regular file" in store.notes[0]


def test_no_reply_is_written_through_a_link(tmp_path: Path, secret: Path) -> None:
    (tmp_path / "replies").mkdir()
    (tmp_path / "replies" / "m").symlink_to(secret.parent)
    with pytest.raises(UsageError, match="a link out of"):
        ReplyStore(tmp_path / "replies", "m").save(REQUEST, REPLY)
    assert [path.name for path in secret.parent.iterdir()] == ["secret.txt"]


def test_a_fork_copies_no_file_from_behind_a_link(run: RunDirectory, secret: Path, tmp_path: Path) -> None:
    (run.replies / "m").mkdir(parents=True)
    (run.replies / "m" / "a.json").symlink_to(secret)
    fork = Fork(ForkedFrom(run.path.name, 1), (Segment(0, {}, (), record().spec),), str(run.path))
    child = runs.create(run.path.parent.parent, record("child"))
    with pytest.raises(UsageError, match="a link out of"):
        fork.keep_in(child)
    assert SECRET not in {path.read_text() for path in child.path.rglob("*.json")}


def test_what_a_run_keeps_is_for_its_user_alone_and_what_it_publishes_is_as_the_umask_says(
    run: RunDirectory, tmp_path: Path
) -> None:
    ReplyStore(run.replies, "m", mode=0o600).save(REQUEST, REPLY)
    EventLog(run.events).add(RunEnded("finished", "verified", 0, None))
    publish(run, tmp_path / "work_dir")
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in (tmp_path / "work_dir" / "runs").rglob("*")}
    assert not [path for path, mode in modes.items() if path.is_file() and mode & 0o077]
    assert modes[run.path] == 0o700
    (tmp_path / "plain").touch()
    published = (tmp_path / "work_dir" / "user_code.py").stat().st_mode
    assert published == (tmp_path / "plain").stat().st_mode


def test_git_leaves_a_work_dir_alone_that_a_run_made(tmp_path: Path) -> None:
    runs.create(tmp_path / "new", record())
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"
    (tmp_path / "there").mkdir()
    runs.create(tmp_path / "there", record())
    assert not (tmp_path / "there" / ".gitignore").exists()


def test_a_published_name_that_is_a_link_is_set_aside_and_nothing_goes_through_it(
    run: RunDirectory, secret: Path, tmp_path: Path
) -> None:
    (tmp_path / "work_dir" / "user_code.py").symlink_to(secret)
    (note,) = publish(run, tmp_path / "work_dir")
    assert "kept1" in note
    assert secret.read_text() == SECRET
    assert (tmp_path / "work_dir" / "user_code.py").read_text() == "x = 1\n"
