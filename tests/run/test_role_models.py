from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents.errors import ModelError, ReplyError
from agents.events import Note
from agents.llm_backends.budget import Budget
from agents.llm_backends.selection import Choice
from agents.run.role_models import ROLES, RoleModels, SharedModels
from agents.settings import Settings
from agents.spec import read_spec

from ..llm_backends.test_call import REQUEST, Scripted, end, text
from ..support.commands import QUICKSORT, REPLAYS, ROOT, environment, greenloop

CHOICE = Choice("embedded", "It is the test's own.")


class Opened:
    """SharedModels whose one model is scripted; counts how often it is opened."""

    def __init__(self, choice: Choice = CHOICE, weights: Path | None = None) -> None:
        self.count = 0
        self.model = Scripted([*text("a"), end()])
        self.backends = SharedModels(
            dict.fromkeys(ROLES, choice), weights, lambda event: None, open_model=self._open, slots=3
        )

    def _open(self, *_: object) -> Scripted:
        self.count += 1
        return self.model

    def ask(self, replies: Path, settings: Settings, told: list[object] | None = None) -> Budget:
        """One draft; the budget that it was charged to."""
        budget, heard = Budget(), [] if told is None else told
        with RoleModels(self.backends, settings, budget, replies, heard.append) as models:
            models.ask("code_writer")(REQUEST)
        return budget


def test_no_model_is_opened_for_what_is_cached(tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path / "cache")
    first, again = Opened(), Opened()
    assert first.ask(tmp_path / "1", settings).usage.replayed == 0
    assert again.ask(tmp_path / "2", settings).usage.replayed == 1
    assert (first.count, again.count) == (1, 0)
    assert (again.backends.parallel, again.backends.models[CHOICE] is not None) == (3, True)


def test_no_model_is_opened_for_what_the_run_has_recorded(tmp_path: Path) -> None:
    first, again = Opened(), Opened()
    first.ask(tmp_path, Settings())
    assert again.ask(tmp_path, Settings()).usage.replayed == 1
    assert again.count == 0


def test_weights_of_the_users_own_are_answered_by_no_other_models_replies(tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path / "cache")
    Opened().ask(tmp_path / "1", settings)
    other = Opened(weights=Path("/nowhere/other.gguf"))
    assert other.ask(tmp_path / "2", settings).usage.replayed == 0
    assert other.count == 1


def test_frozen_opens_no_model_for_what_is_not_cached_either(tmp_path: Path) -> None:
    opened = Opened()
    with pytest.raises(ModelError, match="--frozen allows no call") as error:
        opened.ask(tmp_path / "1", Settings(cache=tmp_path / "cache", frozen=True))
    assert error.value.kind == "not_cached"
    assert opened.count == 0
    assert not (tmp_path / "cache").exists()


def test_a_damaged_entry_is_a_warning_of_the_run(tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path / "cache")
    Opened().ask(tmp_path / "1", settings)
    next((tmp_path / "cache").rglob("*.json")).write_text("{")
    told: list[object] = []
    Opened().ask(tmp_path / "2", settings, told)
    (note,) = [event for event in told if isinstance(event, Note)]
    assert note.warning
    assert "is damaged and was ignored" in note.text


def test_runs_that_need_the_model_first_at_once_open_it_once(tmp_path: Path) -> None:
    opened = Opened()
    together = threading.Barrier(4, timeout=10)

    def run(number: int) -> None:
        together.wait()
        opened.ask(tmp_path / str(number), Settings())

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert (opened.count, len(opened.model.calls)) == (1, 4)


def test_a_run_asks_the_embedded_model_for_one_reply_at_a_time_whatever_slots_there_are(tmp_path: Path) -> None:
    hosted = Choice("openai/m", "", "http://127.0.0.1:9/v1")
    for choice, parallel, at_once in ((CHOICE, 3, 1), (hosted, 8, 8)):
        backends = Opened(choice).backends
        with RoleModels(backends, Settings(), Budget(), tmp_path, lambda event: None) as models:
            assert (backends.parallel, models.at_once) == (parallel, at_once)


@pytest.mark.parametrize(
    ("model_id", "small"), [("embedded", True), ("ollama/llama3.2:3b", True), ("gpt-4o", False)]
)
def test_a_small_models_reply_is_begun_and_its_critic_not_asked(
    tmp_path: Path, model_id: str, small: bool
) -> None:
    opened = Opened(Choice(model_id, ""))
    with RoleModels(opened.backends, Settings(), Budget(), tmp_path, lambda event: None) as models:
        verifier: Any = None
        assert models.roles(verifier).repairs is not small
        with contextlib.suppress(ReplyError):  # the scripted reply is no module
            models.roles(verifier).code_writer.draft(
                read_spec("Implement f(x: int) -> int.", origin="argument"), 0, 1
            )
    roles = [str(message.role.value) for message in opened.model.calls[0]["messages"]]
    assert (roles[-1] == "assistant") is small


# --- the same, as a user runs it: the recorded replies of the tests are a cache of the embedded model's ----------

MODELS = {"smolagents", "litellm", "xllamacpp", "openai", "huggingface_hub"}


def frozen(
    directory: Path, *arguments: str, extra: Mapping[str, str] | None = None
) -> tuple[int, dict[str, Any], set[str]]:
    """Exit code, document and loaded modules of a frozen run on the tests' recorded replies."""
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", str(ROOT / "main.py"), *arguments, "--frozen", "--json"],
        capture_output=True,
        text=True,
        cwd=directory,
        env=environment(directory, extra),
        timeout=120,
    )
    timed = [line for line in ended.stderr.splitlines() if line.startswith("import time:")]
    loaded = {line.split("|")[-1].strip().split(".")[0] for line in timed}
    return ended.returncode, json.loads(ended.stdout), loaded


def test_a_frozen_run_on_a_full_cache_needs_no_model_library_no_weights_and_no_key(tmp_path: Path) -> None:
    code, document, loaded = frozen(tmp_path, QUICKSORT, extra={"GREENLOOP_CACHE": str(REPLAYS)})
    assert (code, document["grade"], document["model"]) == (0, "consensus", "embedded")
    assert document["usage"]["replayed"] == document["usage"]["calls"] > 0
    assert "agents" in loaded
    assert not loaded & MODELS
    assert not list(tmp_path.rglob("*.gguf"))


@pytest.mark.parametrize("model", ["embedded", "anthropic/claude-haiku-4-5", "ollama/qwen2.5-coder:7b"])
def test_a_frozen_run_ends_at_what_is_not_cached_with_the_way_out(tmp_path: Path, model: str) -> None:
    arguments = (f"{QUICKSORT} Quickly.", "--model", model, "--cache", str(tmp_path / "cache"))
    code, document, loaded = frozen(tmp_path, *arguments)
    assert (code, document["error"]["kind"]) == (3, "not_cached")
    assert "run once without --frozen" in document["error"]["message"]
    assert not loaded & MODELS


def test_frozen_without_a_cache_is_a_usage_error_that_leaves_nothing(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, QUICKSORT, "--frozen")
    assert ended.returncode == 2
    assert "--cache DIR" in ended.stderr
    assert not (tmp_path / "work_dir").exists()
