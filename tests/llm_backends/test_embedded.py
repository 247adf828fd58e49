"""The embedded model's own logic, on a server that is passed in; with the real one: tests/test_main_job.py."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from smolagents.models import agglomerate_stream_deltas

from agents.errors import ModelError
from agents.llm_backends.embedded import EmbeddedModel
from agents.llm_backends.streaming_model import FinalDelta

END = {
    "choices": [],
    "usage": {"prompt_tokens": 30, "completion_tokens": 2},
    "timings": {"cache_n": 20, "predicted_per_second": 9.5, "draft_n": 8, "draft_n_accepted": 5},
}


def piece(text: str | None, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


class ScriptedServer:
    """Plays chunks as xllamacpp's server does: errors are returned, and a true callback result stops it."""

    def __init__(self, chunks: Sequence[dict[str, Any]], answer: object = None, delay: float = 0.0) -> None:
        self.chunks = chunks
        self.answer = answer
        self.delay = delay
        self.bodies: list[dict[str, Any]] = []
        self.sent = 0

    def handle_chat_completions(self, body: dict[str, Any], on_chunk: Callable[[Any], bool | None]) -> Any:
        self.bodies.append(body)
        for chunk in self.chunks:
            time.sleep(self.delay)
            self.sent += 1
            if on_chunk(chunk):
                return None
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture(autouse=True)
def _own_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENLOOP_CACHE_DIR", str(tmp_path))


def serving(server: ScriptedServer, said: list[str] | None = None) -> EmbeddedModel:
    notes = [] if said is None else said
    return EmbeddedModel(Path("w.gguf"), on_wait=notes.append, load=lambda weights, threads, slots: server)


def question() -> list[Any]:
    return [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]


@pytest.fixture
def good() -> ScriptedServer:
    return ScriptedServer([piece(None), piece("a"), piece("b"), piece(None, "length"), END])


def test_pieces_come_as_they_arrive_and_the_last_tells_of_the_end(good: ScriptedServer) -> None:
    *pieces, final = serving(good).generate_stream(question(), max_tokens=2, temperature=0.0, seed=1)
    assert [each.content for each in pieces] == ["a", "b"]
    assert isinstance(final, FinalDelta)
    assert (final.finish_reason, final.cached_prompt_tokens, final.tokens_per_second) == ("length", 20, 9.5)
    assert (final.drafted_tokens, final.accepted_tokens) == (8, 5)
    assert final.token_usage.input_tokens == 30


def test_the_request_is_openais_with_plain_text_messages(good: ScriptedServer) -> None:
    list(serving(good).generate_stream(question(), max_tokens=2, temperature=0.0, seed=1))
    (body,) = good.bodies
    assert body["messages"] == [{"role": "user", "content": "hi"}]
    assert (body["max_tokens"], body["temperature"], body["seed"], body["stream"]) == (2, 0.0, 1, True)


def test_a_whole_reply_is_put_together(good: ScriptedServer) -> None:
    reply = agglomerate_stream_deltas(list(serving(good).generate_stream(question())))
    assert (reply.content, reply.token_usage.output_tokens) == ("ab", 2)


def test_the_server_is_loaded_once_and_only_when_asked(good: ScriptedServer) -> None:
    loaded: list[Path] = []

    def load(weights: Path, threads: int, slots: int) -> ScriptedServer:
        assert threads >= 1
        assert slots == 1
        loaded.append(weights)
        return good

    model = EmbeddedModel(Path("w.gguf"), on_wait=print, load=load)
    assert loaded == []
    list(model.generate_stream(question()))
    list(model.generate_stream(question()))
    assert loaded == [Path("w.gguf")]
    model.close()


def test_closing_the_stream_stops_the_decoding() -> None:
    server = ScriptedServer([piece("a")] * 1000, delay=0.01)
    stream = serving(server).generate_stream(question())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    sent = server.sent
    time.sleep(0.1)
    assert server.sent == sent < 100


def test_closing_the_model_ends_a_reply_under_way() -> None:
    model = serving(ScriptedServer([piece("a")] * 1000, delay=0.01))
    pieces: list[object] = []
    reader = threading.Thread(target=lambda: pieces.extend(model.generate_stream(question())))
    reader.start()
    time.sleep(0.1)
    model.close()
    reader.join(5)
    assert not reader.is_alive()
    assert len(pieces) < 500


@pytest.mark.thorough
def test_closing_does_not_wait_for_a_prompt_that_is_still_being_read() -> None:
    reading = ScriptedServer([piece("late")], delay=4.0)
    model = serving(reading)
    reader = threading.Thread(target=lambda: list(model.generate_stream(question())), daemon=True)
    reader.start()
    time.sleep(0.1)
    started = time.monotonic()
    model.close()
    assert time.monotonic() - started < 3
    reader.join(10)


class CountingServer(ScriptedServer):
    """Tells how many requests it answered at once."""

    def __init__(self) -> None:
        super().__init__([piece("a"), END], delay=0.05)
        self.now = self.most = 0
        self._counting = threading.Lock()

    def handle_chat_completions(self, body: dict[str, Any], on_chunk: Callable[[Any], bool | None]) -> Any:
        with self._counting:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            return super().handle_chat_completions(body, on_chunk)
        finally:
            with self._counting:
                self.now -= 1


@pytest.mark.parametrize("slots", [1, 3])
def test_as_many_requests_as_there_are_slots_decode_at_once(slots: int) -> None:
    server = CountingServer()
    model = EmbeddedModel(Path("w.gguf"), on_wait=print, slots=slots, load=lambda *_: server)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: list(model.generate_stream(question())), range(8)))
    assert [len(reply) for reply in replies] == [2] * 8
    assert (server.most, model.parallel) == (slots, slots)
    model.close()


def test_a_request_that_waits_for_a_slot_is_refused_when_the_model_is_closed() -> None:
    model = serving(ScriptedServer([piece("a")] * 1000, delay=0.01))
    first = model.generate_stream(question())
    next(first)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(list, model.generate_stream(question()))
        time.sleep(0.1)
        model.close()
        with pytest.raises(ModelError, match="was closed"):
            waiting.result(5)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"error": {"message": "request (9000 tokens) exceeds the available context size"}}, "context_too_long"),
        ({"error": {"message": "type must be number"}}, "bad_request"),
        (RuntimeError("the backend broke"), "runtime"),
    ],
)
def test_the_servers_errors_are_one_sentence_each(answer: object, kind: str) -> None:
    with pytest.raises(ModelError) as raised:
        list(serving(ScriptedServer([], answer)).generate_stream(question()))
    assert raised.value.kind == kind
    assert not raised.value.transient


def test_another_run_that_holds_the_model_is_waited_for_and_named(good: ScriptedServer) -> None:
    holder = serving(ScriptedServer([END]))
    list(holder.generate_stream(question()))
    said: list[str] = []
    waiting = serving(good, said)
    pieces: list[object] = []
    thread = threading.Thread(target=lambda: pieces.extend(waiting.generate_stream(question())), daemon=True)
    thread.start()
    time.sleep(0.3)
    assert pieces == []
    assert "Another run" in said[0]
    holder.close()
    thread.join(10)
    assert len(pieces) == 3


def test_a_model_that_is_closed_while_it_waits_for_another_run_gives_the_machine_up(good: ScriptedServer) -> None:
    holder = serving(ScriptedServer([END]))
    list(holder.generate_stream(question()))
    closed = serving(good)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(list, closed.generate_stream(question()))
        time.sleep(0.1)
        closed.close()
        holder.close()
        with pytest.raises(ModelError, match="was closed"):
            waiting.result(5)
    assert good.bodies == []
    said: list[str] = []
    assert len(list(serving(good, said).generate_stream(question()))) == 3


def test_a_model_that_was_closed_while_a_prompt_was_read_is_given_up_then() -> None:
    reading = serving(ScriptedServer([piece("late")], delay=1.5))
    reader = threading.Thread(target=lambda: list(reading.generate_stream(question())), daemon=True)
    reader.start()
    time.sleep(0.1)
    reading.close()
    assert len(list(serving(ScriptedServer([piece("a"), END])).generate_stream(question()))) == 2


def test_a_killed_run_gives_the_model_up(good: ScriptedServer, tmp_path: Path) -> None:
    code = (
        "import time; from agents.llm_backends.embedded import _machine_lock\n"
        "lock = _machine_lock(print); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.kill()
    said: list[str] = []
    assert len(list(serving(good, said).generate_stream(question()))) == 3
    assert said == []


def test_weights_that_are_none_are_a_clear_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    code = (
        "import sys; from pathlib import Path; from agents.errors import ModelError\n"
        "from agents.llm_backends.embedded import load_server\n"
        "try: load_server(Path(sys.argv[1]), 1)\n"
        "except ModelError as error: print(error.kind, error)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(broken)], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("runtime The weights broken.gguf could not be loaded")


def test_the_runtime_is_loaded_with_the_first_request_only() -> None:
    code = (
        "import sys; from pathlib import Path; from agents.llm_backends.embedded import EmbeddedModel\n"
        "EmbeddedModel(Path('w.gguf'), on_wait=print); print('xllamacpp' in sys.modules, 'litellm' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False False"
