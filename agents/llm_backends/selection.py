"""Choice of a run's model: the named one, else the best available one.

The choice opens no model: recorded and cached replies are found by the model's name alone.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from ..records import Role
from ..settings import Settings
from .providers import EMBEDDED, PROVIDERS, is_embedded, is_ollama, is_recorded, provider_of

OLLAMA_PORT = 11434
PROBE_SECONDS = 0.3
PARALLEL = 8
"""Concurrent requests of a hosted model, and of recorded replies."""
USUAL_PREFIXES = frozenset(
    {provider.prefix for provider in PROVIDERS}
    | {"hosted_vllm", "litellm_proxy", "llamafile", "lm_studio", "ollama", "ollama_chat"}
)
"""LiteLLM's names of providers, known without importing LiteLLM, which takes seconds."""

OllamaProbe = Callable[[str], tuple[str, ...] | None]
"""Returns the names of the models at Ollama's address; None where it does not answer."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen model, and a sentence why. `model_id` None: the only model that `api_base` serves; `api_base`
    None: the provider's own address."""

    model_id: str | None
    reason: str
    api_base: str | None = None


def choose(
    settings: Settings, environ: Mapping[str, str], probe_ollama: OllamaProbe, role: Role | None = None
) -> Choice:
    """Return the model for `role` (None: for roles without one of their own): that of `settings`, else of the
    first provider with a key in `environ`, else of a running Ollama (not with --frozen), else `embedded`. Raises
    UsageError for --frozen without --cache, or without the name of --api-base's model."""
    if settings.frozen and settings.cache is None:
        raise UsageError("--frozen lets only cached replies be used; say where they are with --cache DIR.")
    if named := (role and getattr(settings, f"{role}_model")) or settings.model:
        return _named(named, settings.api_base, environ)
    if settings.api_base:
        if settings.frozen:
            raise UsageError("--frozen asks no server which model it serves; name the model with --model.")
        reason = f"No model is named, so the one that {settings.api_base} serves is used."
        return Choice(None, reason, settings.api_base)
    for provider in PROVIDERS:
        if variable := provider.key_variable_set(environ):
            reason = f"No model is named and {variable} is set, so {provider.name} is used."
            return Choice(provider.default_model, reason)
    if settings.frozen:
        reason = "No model is named, no provider's key is set and --frozen looks for no server, so"
        return Choice("embedded", f"{reason} the embedded model's replies are used.")
    address = ollama_address(environ)
    models = probe_ollama(address)
    if name := preferred_ollama_model(models or ()):
        reason = f"No model is named and no provider's key is set, but Ollama runs at {address}, so it is used."
        return Choice(f"ollama_chat/{name}", reason, address)
    missing = "no Ollama runs" if models is None else "Ollama has no chat model"
    return Choice("embedded", f"No provider's key is set and {missing}, so the embedded model is used.")


def list_models(environ: Mapping[str, str], probe_ollama: OllamaProbe) -> Iterator[str]:
    """Yield a line for every known provider and Ollama: usable or not, why, and its model."""
    for provider in PROVIDERS:
        variable = provider.key_variable_set(environ)
        lacking = " or ".join(provider.key_variables)
        state = f"usable, {variable} is set" if variable else f"not usable, {lacking} is not set"
        yield f"{provider.name}: {state} ({provider.default_model})"
    address = ollama_address(environ)
    models = probe_ollama(address)
    name = preferred_ollama_model(models or ())
    if models is None:
        state = f"not usable, nothing answers at {address}; start it with: ollama serve"
    elif name is None:
        way = "fetch one with: ollama pull qwen2.5-coder:7b"
        state = f"not usable, it runs at {address} without a chat model; {way}"
    else:
        state = f"usable, it runs at {address} with {len(models)} model{'s' if len(models) > 1 else ''}"
    yield f"Ollama: {state} (ollama_chat/{name or 'qwen2.5-coder:7b'})"


def preferred_ollama_model(models: tuple[str, ...]) -> str | None:
    """Return the most recent model for code (Ollama lists by date), else the most recent; None without models."""
    chat = [name for name in models if "embed" not in name.lower()]
    coders = [name for name in chat if "code" in name.lower() or "devstral" in name.lower()]
    return next(iter(coders or chat), None)


def ollama_address(environ: Mapping[str, str]) -> str:
    """Return Ollama's address by OLLAMA_HOST, whose scheme, port and path may be left out, as Ollama reads it."""
    scheme, _, rest = environ.get("OLLAMA_HOST", "").strip().rstrip("/").rpartition("://")
    place, slash, path = rest.partition("/")
    usual = {"http": "80", "https": "443"}.get(scheme, str(OLLAMA_PORT))
    name, port = found.groups() if (found := re.fullmatch(r"(\[.*\]|[^:]*):(\d+)", place)) else (place, usual)
    if name in ("", "0.0.0.0"):  # noqa: S104 - a server's way to say "any"; a client needs one
        name = "127.0.0.1"
    if ":" in name and not name.startswith("["):
        name = f"[{name}]"
    return f"{scheme or 'http'}://{name}:{port}{slash}{path}"


def probe_ollama(address: str) -> tuple[str, ...] | None:
    """Return the models of the Ollama at `address`; None where no Ollama answers in time."""
    import urllib.request
    from http.client import HTTPException

    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{address}/api/tags", timeout=PROBE_SECONDS) as response:
            document = json.loads(response.read(1 << 20))
        return tuple(str(model["name"]) for model in document["models"])
    except (OSError, HTTPException, ValueError, KeyError, TypeError, RecursionError):
        return None


def _named(model_id: str, api_base: str | None, environ: Mapping[str, str]) -> Choice:
    """Return the choice of a named model; `api_base`, an OpenAI-compatible server, does not apply to embedded and
    recorded models, and those of other providers."""
    provider = provider_of(model_id) if "/" in model_id else None
    elsewhere = provider is not None and provider.prefix != "openai"
    if elsewhere or is_embedded(model_id) or is_recorded(model_id):
        api_base = None
    elif api_base is None and is_ollama(model_id) and environ.get("OLLAMA_HOST"):
        api_base = ollama_address(environ)
    return Choice(model_id, f"{model_id} is the model that was asked for.", api_base)


def parallel_of(choice: Choice, slots: int) -> int:
    """Return the number of concurrent requests of the model of `choice`; `slots` for the embedded one."""
    return slots if is_embedded(choice.model_id) else PARALLEL


def known_model_id(choice: Choice) -> str | None:
    """Return the id that the opened model will have; None where only its server has it."""
    if choice.model_id is None:
        return None
    if is_ollama(choice.model_id):  # `ollama_chat/` uses the model's own chat template, `ollama/` a guessed one
        return f"ollama_chat/{choice.model_id.partition('/')[2]}"
    return with_provider(choice.model_id) if choice.api_base else choice.model_id


def name_in_cache(choice: Choice, weights: Path | None) -> str | None:
    """Return the model's name in the cache: its id, and for the user's own `weights` the file's name; None where
    only its server has it."""
    from .weights import QWEN_CODER_1_5B

    if is_embedded(choice.model_id) and weights is not None and weights.name != QWEN_CODER_1_5B.file:
        return f"{EMBEDDED}/{weights.name}"
    return known_model_id(choice)


def with_provider(model_id: str) -> str:
    """Return `model_id` as LiteLLM wants it for the user's own server: with `openai/` unless it names a
    provider."""
    prefix, slash, _ = model_id.partition("/")
    is_provider = prefix in USUAL_PREFIXES
    if slash and prefix.islower() and not is_provider:
        from .litellm_import import load_litellm

        is_provider = prefix in load_litellm().provider_list
    return model_id if slash and is_provider else f"openai/{model_id}"


def check_known(choice: Choice) -> None:
    """Raise UsageError for a named model without a provider that LiteLLM knows."""
    name = choice.model_id or EMBEDDED
    usual = provider_of(name) or name.partition("/")[0] in USUAL_PREFIXES
    if choice.api_base or is_embedded(name) or is_recorded(name) or usual:
        return
    from .litellm_import import load_litellm

    try:
        load_litellm().get_llm_provider(name)
    except Exception as error:  # LiteLLM's own types
        known = [EMBEDDED, *(provider.default_model for provider in PROVIDERS)]
        near = difflib.get_close_matches(name, known, 1)
        way = f"did you mean {near[0]}?" if near else "name it as LiteLLM does, such as openai/gpt-4.1-mini."
        raise UsageError(f"No provider of a model {name} is known; {way}") from error
