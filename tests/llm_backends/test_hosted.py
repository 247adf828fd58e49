from __future__ import annotations

import contextlib
import gzip
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from smolagents.models import ChatMessage, MessageRole

from agents.errors import ModelError, UsageError
from agents.llm_backends.explain_errors import explain
from agents.llm_backends.guarded_client import guarded
from agents.llm_backends.hosted import OLLAMA_CONTEXT_TOKENS, THINKING_TOKENS, HostedModel, hosted_model
from agents.llm_backends.litellm_import import price_usd
from agents.llm_backends.streaming_model import FinalDelta

from ..support.provider import Answer, Handler, Provider, Streams, serving

MESSAGES = [
    ChatMessage(role=MessageRole.SYSTEM, content=[{"type": "text", "text": "You write code."}]),
    ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": "hi"}]),
]


def served(provider: Provider, name: str = "m") -> HostedModel:
    return hosted_model(name, provider.api_base, environ={})


def final(model: HostedModel, **params: Any) -> FinalDelta:
    *_, last = model.generate_stream(MESSAGES, **params)
    assert isinstance(last, FinalDelta)
    return last


@pytest.mark.thorough
def test_a_stream_brings_the_text_and_ends_with_reason_usage_and_speed(provider: Provider) -> None:
    provider.script(Streams(["warm up"]), Streams(["def ", "f():", *[" ."] * 10], usage=(12, 5, 3), pause=0.05))
    model = served(provider)
    final(model)  # the first chunk takes LiteLLM half a second
    *pieces, last = model.generate_stream(MESSAGES)
    assert "".join(piece.content for piece in pieces) == "def f():" + " ." * 10
    assert (last.finish_reason, last.cached_prompt_tokens) == ("stop", 3)
    assert (last.token_usage.input_tokens, last.token_usage.output_tokens) == (12, 5)
    assert 1 < last.tokens_per_second < 80


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter"])
def test_the_finish_reason_is_the_servers(provider: Provider, reason: str) -> None:
    provider.script(Streams(["a"], finish=reason))
    assert final(served(provider)).finish_reason == reason


def test_a_stream_without_a_finish_reason_is_not_said_to_have_stopped(provider: Provider) -> None:
    provider.script(Streams(["a"], finish=None, usage=None, done=False))
    assert final(served(provider)).finish_reason is None


def test_a_refusal_is_kept_apart_from_the_text(provider: Provider) -> None:
    provider.script(Streams([None], extra={"refusal": "I can't."}))
    *pieces, last = served(provider).generate_stream(MESSAGES)
    assert (pieces, last.refusal) == ([], "I can't.")


def test_the_request_is_plain_and_complete(provider: Provider) -> None:
    provider.script(Streams(["a"]))
    final(served(provider), stop_sequences=["END"], max_tokens=64, temperature=0.5, seed=3)
    body = provider.requests[0]
    assert body["messages"] == [
        {"role": "system", "content": "You write code."},
        {"role": "user", "content": "hi"},
    ]
    assert (body["model"], body["max_tokens"], body["temperature"], body["seed"]) == ("m", 64, 0.5, 3)
    assert body["stop"] == ["END"]
    assert body["stream_options"] == {"include_usage": True}


def test_closing_the_stream_closes_the_connection(provider: Provider) -> None:
    provider.script(Streams(["a"] * 500, pause=0.01))
    stream = served(provider).generate_stream(MESSAGES)
    next(iter(stream))
    stream.close()  # type: ignore[attr-defined]
    assert provider.disconnected.wait(5)


def test_a_name_that_starts_with_an_unknown_provider_belongs_to_the_server(provider: Provider) -> None:
    assert served(provider, "Qwen/Qwen2.5-Coder").model_id == "openai/Qwen/Qwen2.5-Coder"
    assert served(provider, "gpt-4o").model_id == "openai/gpt-4o"
    assert served(provider, "openai/x").model_id == "openai/x"


def test_a_server_without_a_key_gets_a_dummy_and_one_with_a_key_gets_it(provider: Provider) -> None:
    provider.script(Streams(["a"]))
    final(hosted_model("m", provider.api_base, environ={}))
    final(hosted_model("m", provider.api_base, environ={"OPENAI_API_KEY": "sk-mine"}))
    assert [headers["Authorization"] for headers in provider.headers] == ["Bearer none", "Bearer sk-mine"]


def test_a_server_of_another_protocol_does_not_get_openais_key(provider: Provider) -> None:
    model = hosted_model("anthropic/claude-haiku-4-5", provider.origin, environ={"OPENAI_API_KEY": "sk-mine"})
    assert model.api_key is None


def test_the_only_served_model_is_taken_under_its_whole_name() -> None:
    with serving({"/v1/models": {"data": [{"id": "openai/gpt-oss-20b"}]}}) as provider:
        provider.script(Streams(["a"]))
        final(hosted_model(None, f"{provider.api_base}/", environ={}))
        assert provider.requests[0]["model"] == "openai/gpt-oss-20b"


def test_several_served_models_are_listed_for_the_user_to_choose() -> None:
    listing = {"/v1/models": {"data": [{"id": "one"}, {"id": "two"}]}}
    with serving(listing) as provider, pytest.raises(UsageError, match=r"--model: one, two\."):
        hosted_model(None, provider.api_base, environ={})


@pytest.mark.parametrize("document", [{"data": []}, {}, [], {"data": 3}, {"data": [{}]}])
def test_a_server_that_lists_no_model_is_a_usage_error(document: object) -> None:
    with serving({"/v1/models": document}) as provider, pytest.raises(UsageError, match="lists no models"):
        hosted_model(None, provider.api_base, environ={})


def test_an_address_that_is_not_the_apis_is_a_usage_error(provider: Provider) -> None:
    with pytest.raises(UsageError, match="correct --api-base"):
        hosted_model(None, provider.origin, environ={})


@dataclass(frozen=True)
class Sends:
    """Answers with a status, headers and a body again and again, or once."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    times: int = 1

    def __call__(self, handler: Handler) -> None:
        handler.send_response(self.status)
        for name, value in {"Content-Length": str(len(self.body) * self.times), **self.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        for _ in range(self.times):
            handler.wfile.write(self.body)


def refusal(model: HostedModel) -> str:
    """The sentence of the ModelError that a call ends in."""
    try:
        list(model.generate_stream(MESSAGES, max_tokens=5))
    except Exception as error:
        return str(explain(error, model.model_id, environ={}))
    raise AssertionError("the call did not fail")


@pytest.mark.parametrize("name", ["openai/m", "anthropic/claude-3-haiku-20240307", "gemini/g", "azure/m"])
def test_no_key_follows_a_redirect_to_another_server(
    provider: Provider, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the headers with a key httpx takes `Authorization` off such a request, and no other."""
    for variable in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AZURE_API_KEY"):
        monkeypatch.setenv(variable, "the-key")
    with serving() as other:
        other.script(Streams(["a"]))
        provider.script(Sends(307, {"Location": f"{other.origin}/v1/chat/completions"}))
        assert "which gets no key" in refusal(hosted_model(name, provider.api_base, environ={}))
        assert not other.headers


@pytest.mark.parametrize(
    ("asked", "to", "followed"),
    [
        ("https://a.example/x", "/y", True),
        ("http://a.example/x", "https://a.example/x", True),
        ("http://a.example:8080/x", "/y", True),
        ("https://a.example/x", "http://a.example/x", False),
        ("http://a.example:8080/x", "http://a.example/x", False),
        ("https://a.example/x", "//b.example/x", False),
    ],
)
def test_a_key_goes_to_the_host_and_port_that_was_named_and_never_without_tls(
    asked: str, to: str, followed: bool
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200) if str(request.url) != asked else httpx.Response(307, headers={"Location": to})

    client = guarded(httpx.Client(transport=httpx.MockTransport(answer), follow_redirects=True))
    with contextlib.nullcontext() if followed else pytest.raises(ModelError, match="redirects to"):
        assert client.get(asked).status_code == 200


def test_a_redirect_within_the_server_is_followed(provider: Provider) -> None:
    provider.script(Sends(307, {"Location": "/v1/chat/completions/"}), Streams(["a"]))
    assert final(served(provider)).finish_reason == "stop"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Sends(500, {}, b"a" * (1 << 20), 33), "more than 32 MiB"),
        (Sends(200, {"Content-Encoding": "gzip"}, gzip.compress(b"data: " + bytes(1 << 20))), "compressed"),
    ],
)
def test_an_answer_without_bounds_is_not_read(provider: Provider, answer: Answer, reason: str) -> None:
    provider.script(answer)
    assert reason in refusal(served(provider))


def test_a_server_that_is_not_there_is_a_model_error() -> None:
    with serving() as provider:
        gone = provider.api_base
    with pytest.raises(ModelError, match="No server listens at") as error:
        hosted_model(None, gone, environ={})
    assert error.value.kind == "network"


@pytest.mark.parametrize(
    ("model_id", "variable"), [("gpt-4o", "OPENAI_API_KEY"), ("gemini/gemini-flash-latest", "GEMINI_API_KEY")]
)
def test_a_missing_key_is_said_before_any_call(model_id: str, variable: str) -> None:
    with pytest.raises(ModelError, match=variable) as error:
        hosted_model(model_id, environ={})
    assert (error.value.kind, error.value.transient) == ("bad_key", False)


@pytest.mark.parametrize("model_id", ["nonsense", "nobody/knows"])
def test_a_model_of_no_known_provider_is_said_before_any_call(model_id: str) -> None:
    with pytest.raises(UsageError, match=f"No provider of a model {model_id} is known"):
        hosted_model(model_id, environ={})


def test_ollama_is_asked_through_its_chat_interface_with_room_for_the_prompt(provider: Provider) -> None:
    line = '{"model":"x","message":{"role":"assistant","content":"hello"},"done":true,"done_reason":"length",'
    line += '"prompt_eval_count":9,"eval_count":4}\n'
    provider.script(lambda handler: handler.send_text(200, line, "application/x-ndjson"))
    model = hosted_model("ollama/x", provider.origin, environ={})
    *pieces, last = model.generate_stream(MESSAGES, max_tokens=8)
    assert [piece.content for piece in pieces] == ["hello"]
    assert (last.finish_reason, last.token_usage.output_tokens) == ("length", 4)
    assert provider.requests[0]["options"] == {"num_predict": 8, "num_ctx": OLLAMA_CONTEXT_TOKENS}
    assert price_usd(model.model_id, 10**6, 10**6) == 0


def test_a_reasoning_model_gets_room_to_think(provider: Provider) -> None:
    provider.script(Streams(["a"]))
    final(hosted_model("openai/gpt-5-mini", provider.api_base, environ={}), max_tokens=100, temperature=0.7)
    assert provider.requests[0]["max_completion_tokens"] == 100 + THINKING_TOKENS


def test_prices_are_litellms_and_an_unlisted_model_has_none(provider: Provider) -> None:
    name = hosted_model("gpt-4.1-mini", environ={"OPENAI_API_KEY": "sk"}).model_id
    assert price_usd(name, 1_000_000, 0) == pytest.approx(0.40)
    assert price_usd(name, 0, 1_000_000) == pytest.approx(1.60)
    assert (price_usd(name, 1000, 0, 1000) or 0) < (price_usd(name, 1000, 0) or 0)
    assert price_usd(served(provider, "never-heard-of").model_id, 1, 1) is None


def test_litellm_prints_nothing_and_sends_one_request(provider: Provider, tmp_path: Path) -> None:
    """In a process of its own: what LiteLLM does at import can only be seen once."""
    provider.script(lambda handler: handler.send_document(500, {"error": {"message": "boom"}}))
    program = f"""
from agents.llm_backends.hosted import hosted_model
model = hosted_model("m", {provider.api_base!r}, environ={{}})
try:
    list(model.generate_stream([{{"role": "user", "content": [{{"type": "text", "text": "hi"}}]}}]))
except Exception as error:
    assert error.status_code == 500, error
else:
    raise SystemExit("no error")
"""
    environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(tmp_path), "LITELLM_LOG": "DEBUG"}
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert len(provider.requests) == 1
