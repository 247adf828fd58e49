"""Hosted models: any provider that LiteLLM knows, and any OpenAI-compatible server. LiteLLM is imported when a
model is built, never before: it takes seconds."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from ..errors import ModelError, UsageError
from .explain_errors import explain
from .guarded_client import guarded
from .litellm_import import load_litellm
from .providers import is_ollama, provider_of
from .selection import Choice, check_known, known_model_id
from .streaming_model import ChatMessage, ChatMessageStreamDelta, FinalDelta, LiteLLMModel, TokenUsage

CONNECT_SECONDS = 10.0
READ_SECONDS = 180.0
"""How long a silent server is waited for: a local one may load its model and read the whole prompt first."""
LIST_SECONDS = 5.0
OLLAMA_CONTEXT_TOKENS = 16384
"""Ollama's own default is shorter on most machines, and what does not fit is dropped without a word."""
THINKING_TOKENS = 8192
"""Tokens that a reasoning model may think beyond the answer's length: `max_tokens` counts both."""
SHORTEST_MEASURE = 0.05
"""Seconds between the first and the last piece of a reply that tell its speed."""


class HostedModel(LiteLLMModel):  # type: ignore[misc]
    """smolagents' LiteLLMModel whose stream ends in a FinalDelta. Retries are the Caller's, counted and charged in
    one place: LiteLLM's and the OpenAI client's are off, and smolagents' wrapper around them is not used."""

    def __init__(
        self, model_id: str, api_base: str | None = None, api_key: str | None = None, timeout: float = READ_SECONDS
    ) -> None:
        super().__init__(
            model_id=model_id,
            api_base=api_base,
            api_key=api_key,
            flatten_messages_as_text=True,  # plain strings: not every compatible server takes a list of parts
            timeout=httpx.Timeout(timeout, connect=CONNECT_SECONDS),
            num_retries=0,
            max_retries=0,
            drop_params=True,  # seed, stop or temperature where a provider has no such thing
            **({"num_ctx": OLLAMA_CONTEXT_TOKENS} if is_ollama(model_id) else {}),
        )
        self._thinking_tokens = THINKING_TOKENS if self.client.supports_reasoning(model_id) else 0

    def create_client(self) -> Any:
        """The LiteLLM module, which smolagents calls the client."""
        return load_litellm()

    def generate_stream(
        self, messages: list[ChatMessage | dict[str, Any]], stop_sequences: list[str] | None = None, **params: Any
    ) -> Iterator[ChatMessageStreamDelta]:
        """Stream one reply. Raises LiteLLM's exceptions (see explain_errors)."""
        if "max_tokens" in params:
            params["max_tokens"] += self._thinking_tokens
        completion = self._prepare_completion_kwargs(
            messages=messages,
            stop_sequences=stop_sequences,
            model=self.model_id,
            api_base=self.api_base,
            api_key=self.api_key,
            custom_role_conversions=self.custom_role_conversions,
            **params,
        )
        events = self.client.completion(**completion, stream=True, stream_options={"include_usage": True})
        try:
            yield from _deltas(events)
        finally:
            # Only a closed connection stops a server that is left before its end. LiteLLM's wrapper has no close
            # for this: what it wraps is OpenAI's stream, or an iterator that holds the HTTP response.
            for holder in (events.completion_stream, getattr(events.completion_stream, "http_response", None)):
                getattr(holder, "close", lambda: None)()


def hosted_model(
    model_id: str | None, api_base: str | None = None, *, environ: Mapping[str, str] = os.environ
) -> HostedModel:
    """The model `model_id`, from its provider or from the OpenAI-compatible server at `api_base`.

    Without a `model_id` it is the only one that `api_base` serves. Raises UsageError (several models served, or
    nobody serves it) and ModelError (no key, no such model, no server).
    """
    model_id = known_model_id(Choice(model_id, "", api_base))
    if api_base and not (model_id and is_ollama(model_id)):
        api_base = api_base.rstrip("/")
        own_key = environ.get("OPENAI_API_KEY", "").strip() or "none"
        model_id = model_id or f"openai/{only_served_model(api_base, own_key, environ)}"
        return HostedModel(model_id, api_base, own_key if model_id.startswith("openai/") else None)
    assert model_id is not None, "no choice has neither"
    if is_ollama(model_id):
        return HostedModel(model_id, api_base)
    provider = provider_of(model_id)
    # LiteLLM calls a missing key a server's error, which would be tried again.
    if provider and not provider.key_variable_set(environ):
        name, variables = provider.name, " or ".join(provider.key_variables)
        way = f"set {variables} (in the environment or .env)"
        raise ModelError("bad_key", f"{name} needs a key for {model_id}; {way}.")
    check_known(Choice(model_id, ""))
    return HostedModel(model_id)


def only_served_model(api_base: str, api_key: str, environ: Mapping[str, str] = os.environ) -> str:
    """The name of the one model that `api_base` lists. Raises UsageError (none or several) and ModelError."""
    try:
        with guarded(httpx.Client(timeout=LIST_SECONDS)) as client:
            response = client.get(f"{api_base}/models", headers={"Authorization": f"Bearer {api_key}"})
        response.raise_for_status()
        names = [str(model["id"]) for model in response.json()["data"]]
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        fault = explain(error, "its only one", api_base=api_base, environ=environ)
        if fault.kind != "no_such_model":
            raise fault from None
        names = []
    except (ValueError, KeyError, TypeError):
        names = []
    if len(names) == 1:
        return names[0]
    if not names:
        way = "name one with --model, or correct --api-base (usually .../v1)"
        raise UsageError(f"{api_base} lists no models; {way}.")
    raise UsageError(f"{api_base} serves several models; choose one with --model: {', '.join(names[:20])}.")


def _deltas(events: Any) -> Iterator[ChatMessageStreamDelta]:
    """LiteLLM's chunks as smolagents' deltas, then what they told of the end."""
    usage: Any = None
    refusal = ""
    first = last = 0.0
    for event in events:
        usage = getattr(event, "usage", None) or usage
        delta = event.choices[0].delta if event.choices else None
        refusal += getattr(delta, "refusal", None) or ""
        if text := getattr(delta, "content", None):
            last = time.monotonic()
            first = first or last
            yield ChatMessageStreamDelta(content=text)
    is_measured = usage and usage.completion_tokens > 1 and last - first >= SHORTEST_MEASURE
    yield FinalDelta(
        token_usage=TokenUsage(usage.prompt_tokens, usage.completion_tokens) if usage else None,
        # Where the server gave no reason (it was cut off, or is no chat server), LiteLLM's last chunk says "stop".
        finish_reason=events.received_finish_reason or events.intermittent_finish_reason,
        refusal=refusal or None,
        cached_prompt_tokens=getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None),
        tokens_per_second=float(usage.completion_tokens - 1) / (last - first) if is_measured else None,
    )
