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
"""Timeout of a silent server: a local one may load its model and read the whole prompt first."""
LIST_SECONDS = 5.0
OLLAMA_CONTEXT_TOKENS = 16384
"""Ollama's default is shorter on most machines, and it silently cuts longer prompts."""
THINKING_TOKENS = 8192
"""Tokens for a reasoning model's thinking, in addition to the reply: `max_tokens` counts both."""
SHORTEST_MEASURE = 0.05
"""Least seconds between the first and the last piece of a reply for its speed to be measured."""


class HostedModel(LiteLLMModel):  # type: ignore[misc]
    """smolagents' LiteLLMModel with a FinalDelta at the end of a stream. The Caller retries and charges: LiteLLM's
    and the OpenAI client's retries are off, and smolagents' wrapper is not used."""

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
        """Return the LiteLLM module, which smolagents calls the client."""
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
            # Only closing the connection stops the server. LiteLLM's wrapper has no close; it wraps OpenAI's
            # stream, or an iterator that has the HTTP response.
            for holder in (events.completion_stream, getattr(events.completion_stream, "http_response", None)):
                getattr(holder, "close", lambda: None)()


def hosted_model(
    model_id: str | None, api_base: str | None = None, *, environ: Mapping[str, str] = os.environ
) -> HostedModel:
    """Return the model `model_id`, from its provider or from the OpenAI-compatible server at `api_base`.

    Without a `model_id` it is the only one that `api_base` serves. Raises UsageError (several served models, or an
    unknown provider) and ModelError (no key, no such model, no server).
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
    # LiteLLM reports a missing key as a server's error, which would be retried.
    if provider and not provider.key_variable_set(environ):
        name, variables = provider.name, " or ".join(provider.key_variables)
        way = f"set {variables} (in the environment or .env)"
        raise ModelError("bad_key", f"{name} needs a key for {model_id}; {way}.")
    check_known(Choice(model_id, ""))
    return HostedModel(model_id)


def only_served_model(api_base: str, api_key: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return the only model that `api_base` lists. Raises UsageError (none or several) and ModelError."""
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
    """Yield LiteLLM's chunks as smolagents' deltas, then a FinalDelta."""
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
        # Without a reason of the server (cut off, or no chat server) LiteLLM's last chunk says "stop".
        finish_reason=events.received_finish_reason or events.intermittent_finish_reason,
        refusal=refusal or None,
        cached_prompt_tokens=getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None),
        tokens_per_second=float(usage.completion_tokens - 1) / (last - first) if is_measured else None,
    )
