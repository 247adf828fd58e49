"""Faults as they come out of the real LiteLLM, from a provider on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.errors import ModelError
from agents.llm_backends.explain_errors import explain, mask
from agents.llm_backends.hosted import HostedModel, hosted_model

from ..support.provider import Answer, Fails, Hangs, Provider, SendsEvents, Streams, chunk, serving

KEY = "sk-proj-abcdef0123456789"
MESSAGES = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]


def fault_of(model: HostedModel, api_base: str | None = None) -> ModelError:
    """Return what explain makes of the error that a call to `model` raises."""
    try:
        list(model.generate_stream(MESSAGES, max_tokens=8))
    except Exception as error:
        return explain(error, model.model_id, api_base=api_base, environ={"OPENAI_API_KEY": KEY})
    raise AssertionError("the call did not fail")


def openai(provider: Provider, timeout: float = 10.0) -> HostedModel:
    """The provider under OpenAI's own name, as if it were api.openai.com."""
    return HostedModel("gpt-4.1-mini", provider.api_base, KEY, timeout)


@dataclass(frozen=True)
class Case:
    answer: Answer
    kind: str
    transient: bool
    says: str
    """Texts that the sentence must hold: the way out, or the server's own words."""


def json_answer(status: int, document: object, headers: Mapping[str, str] | None = None) -> Answer:
    return lambda handler: handler.send_document(status, document, headers)


CASES = {
    "bad key": Case(
        Fails(401, f"Incorrect API key: {KEY}", "invalid_api_key"), "bad_key", False, "OPENAI_API_KEY"
    ),
    "key without access": Case(Fails(403, "You have no access"), "bad_key", False, "You have no access"),
    "no such model": Case(
        Fails(404, "The model does not exist", "model_not_found"), "no_such_model", False, "correct --model"
    ),
    "wrong path": Case(
        lambda handler: handler.send_text(404, "404 page not found", "text/plain"),
        "no_such_model",
        False,
        "--api-base",
    ),
    "spent quota": Case(
        Fails(429, "You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
        "quota",
        False,
        "top it up",
    ),
    "payment required": Case(Fails(402, "Insufficient Balance"), "quota", False, "top it up"),
    "rate limit": Case(Fails(429, "Rate limit reached", "rate_limit_exceeded"), "rate_limit", True, "--resume"),
    "context too long": Case(
        Fails(400, "maximum context length is 8192 tokens", "context_length_exceeded"),
        "context_too_long",
        False,
        "maximum context length is 8192 tokens",
    ),
    "context too long, llama.cpp": Case(
        Fails(400, "request exceeds the available context size", kind="exceed_context_size_error"),
        "context_too_long",
        False,
        "larger context",
    ),
    "content filter": Case(
        Fails(400, "rejected as a result of our safety system", "content_policy_violation"),
        "refusal",
        False,
        "reword the spec",
    ),
    "bad parameter": Case(Fails(400, "Unknown parameter: 'x'"), "bad_request", False, "Unknown parameter"),
    "server error": Case(Fails(500, "boom", kind="server_error"), "server_error", True, "HTTP 500"),
    "server error that LiteLLM calls a bad request": Case(Fails(503, "busy"), "server_error", True, "HTTP 503"),
    "gateway's page": Case(
        lambda handler: handler.send_text(502, "<html>Bad Gateway</html>", "text/html"),
        "server_error",
        True,
        "HTTP 502",
    ),
    "error event in the stream": Case(
        SendsEvents([chunk({"content": "a"}), json.dumps({"error": {"message": "Overloaded", "code": 529}})]),
        "server_error",
        True,
        '"Overloaded"',
    ),
    "error event without a code": Case(
        SendsEvents(
            [chunk({"content": "a"}), json.dumps({"error": {"message": "it broke", "type": "server_error"}})]
        ),
        "server_error",
        True,
        '"it broke"',
    ),
    "garbled first event": Case(SendsEvents(["{not json"]), "server_error", True, "not JSON"),
    "garbled later event": Case(SendsEvents([chunk({"content": "a"}), "{not"]), "server_error", True, "not JSON"),
    "bytes that are no text": Case(
        lambda handler: handler.send_bytes(b"data: \xe9\xff\n\n", "text/event-stream"),
        "server_error",
        True,
        "not JSON",
    ),
    "cut mid-stream": Case(Streams(["a", "b"], cut=True), "network", True, "before its reply was complete"),
    "cut before the reply": Case(lambda handler: handler.cut(), "network", True, "before its reply was complete"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_each_fault_has_its_kind_and_a_sentence_with_the_way_out(provider: Provider, case: Case) -> None:
    provider.script(case.answer)
    fault = fault_of(openai(provider))
    assert (fault.kind, fault.transient) == (case.kind, case.transient)
    assert case.says in str(fault)
    assert str(fault).endswith(".")
    assert "litellm" not in str(fault).lower()
    assert KEY not in str(fault)


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (Fails(429, "slow down", headers={"Retry-After": "7"}), 7),
        (Fails(503, "busy", headers={"retry-after-ms": "1500"}), 1.5),
        (Fails(429, "slow down", headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}), None),
        (Fails(429, "Rate limit reached. Please try again in 1m3.5s."), 63.5),
        (Fails(429, "Rate limit reached. Please try again in 20ms."), 0.02),
        (Fails(429, "Rate limit reached."), None),
        (Fails(429, "Rate limit reached. Please try again in ...s."), None),
        (Fails(429, "Rate limit reached. Please try again in 1.2.3s."), None),
        (Fails(401, "bad key", headers={"Retry-After": "7"}), None),
    ],
)
def test_the_servers_own_wish_for_a_wait_is_read(
    provider: Provider, answer: Answer, seconds: float | None
) -> None:
    provider.script(answer)
    assert fault_of(openai(provider)).retry_after == seconds


@pytest.mark.parametrize("pieces", [(), ("a",)], ids=["before the reply", "within it"])
def test_a_silent_server_is_a_timeout(provider: Provider, pieces: tuple[str, ...]) -> None:
    released = threading.Event()
    provider.script(Hangs(released, pieces))
    fault = fault_of(openai(provider, timeout=0.3))
    released.set()
    assert (fault.kind, fault.transient) == ("network", True)
    assert "did not answer in time" in str(fault)


def test_a_refused_connection_names_the_address() -> None:
    with serving() as provider:
        gone = provider.origin
    fault = fault_of(HostedModel("openai/m", f"{gone}/v1", "none", 10.0), f"{gone}/v1")
    assert fault.kind == "network"
    assert f"No server listens at {gone}; start it, or correct --api-base." in str(fault)


def test_an_ollama_that_does_not_run_is_to_be_started() -> None:
    with serving() as provider:
        gone = provider.origin
    assert "ollama serve" in str(fault_of(hosted_model("ollama/x", gone, environ={})))


def test_a_name_that_can_not_be_resolved_is_said_so() -> None:
    fault = fault_of(HostedModel("openai/m", "http://no-such-host.invalid/v1", "none", 10.0))
    assert fault.kind == "network"
    assert "http://no-such-host.invalid can't be resolved" in str(fault)


def test_a_server_without_tls_is_said_so(provider: Provider) -> None:
    fault = fault_of(HostedModel("openai/m", provider.api_base.replace("http:", "https:"), "none", 10.0))
    assert fault.kind == "network"
    assert "TLS" in str(fault)


def test_a_server_of_ones_own_is_named_by_its_address(provider: Provider) -> None:
    provider.script(Fails(404, "no such model"))
    fault = fault_of(hosted_model("m", provider.api_base, environ={}), provider.api_base)
    assert str(fault).startswith(f"The server at {provider.api_base} knows no model m")


@pytest.mark.parametrize(
    ("model_id", "answer", "kind", "says"),
    [
        (
            "anthropic/claude-haiku-4-5",
            json_answer(
                401, {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
            ),
            "bad_key",
            "ANTHROPIC_API_KEY",
        ),
        (
            "anthropic/claude-haiku-4-5",
            json_answer(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "server_error",
            '"Overloaded"',
        ),
        (
            "anthropic/claude-haiku-4-5",
            json_answer(400, {"error": {"message": "Your credit balance is too low to access the API"}}),
            "quota",
            "top it up",
        ),
        (
            "gemini/gemini-flash-latest",
            json_answer(
                400, {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}
            ),
            "bad_key",
            "GEMINI_API_KEY",
        ),
        (
            "gemini/gemini-flash-latest",
            json_answer(
                429,
                {"error": {"code": 429, "message": "You exceeded your current quota. Please retry in 34.07s."}},
            ),
            "rate_limit",
            "--resume",
        ),
        (
            "ollama_chat/nope",
            json_answer(404, {"error": "model 'nope' not found"}),
            "no_such_model",
            "ollama pull nope",
        ),
    ],
)
def test_other_providers_faults_are_told_apart_too(
    provider: Provider, model_id: str, answer: Answer, kind: str, says: str
) -> None:
    provider.script(answer)
    fault = fault_of(HostedModel(model_id, provider.origin, "sk-other-0123456789", 10.0))
    assert fault.kind == kind
    assert says in str(fault)


def test_an_error_nobody_foresaw_is_told_and_fatal() -> None:
    fault = explain(ZeroDivisionError("division by zero"), "m", environ={})
    assert (fault.kind, fault.transient) == ("runtime", False)
    assert "division by zero" in str(fault)


def test_an_explained_error_stays_as_it_is() -> None:
    error = ModelError("weights", "No weights.")
    assert explain(error, "m") is error


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abc123def456",
        "Incorrect API key provided: sk-abc1*******wxyz",
        "url 'https://x.example/v1?key=AIzaSyA1234567890abc'",
        "Authorization: Bearer abcdef123456",
        "gsk_abcdefgh12345678 is invalid",
        "the value my-own-secret is wrong",
    ],
)
def test_keys_are_masked(text: str) -> None:
    masked = mask(text, {"SOME_API_KEY": "my-own-secret", "PATH": "/usr/bin"})
    assert "***" in masked
    assert not any(part in masked for part in ("abc1", "AIzaSy", "abcdef", "my-own-secret"))


def test_a_key_is_masked_that_a_server_cuts_by_what_no_terminal_shows(provider: Provider) -> None:
    provider.script(Fails(400, f"{KEY[:7]}\x1b[0m{KEY[7:]} is wrong"))
    said = str(fault_of(openai(provider)))
    assert "*** is wrong" in said


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60))
def test_no_key_of_the_environment_is_ever_in_a_message(key: str) -> None:
    fault = explain(RuntimeError(f"request with {key} failed"), "m", environ={"MY_API_KEY": key})
    assert key not in str(fault)


def test_a_key_is_masked_where_a_long_message_is_cut() -> None:
    key = "d41d8cd98f00b204e9800998ecf8427e"
    fault = explain(ValueError(f"{'x' * 225} {key}"), "mistral/x", environ={"MISTRAL_API_KEY": key})
    assert "xxx ***" in str(fault)
    assert key[:4] not in str(fault)
