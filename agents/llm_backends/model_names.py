"""Names of models, and how many requests each answers at once, before any is opened.

Replies that are kept are found by the model's name, so a run that needs no model need not open one to ask for it.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from .providers import EMBEDDED, PROVIDERS, is_embedded, is_ollama, provider_of

if TYPE_CHECKING:
    from .selection import Choice

RECORDED_PREFIX = "recorded:"
PARALLEL = 8
"""Requests at the same time, of a hosted model and of recorded replies."""
USUAL_PREFIXES = frozenset(
    {provider.prefix for provider in PROVIDERS}
    | {"hosted_vllm", "litellm_proxy", "llamafile", "lm_studio", "ollama", "ollama_chat"}
)
"""LiteLLM's names of providers that need not be looked up in LiteLLM, whose import takes seconds."""


def is_recorded(model_id: str | None) -> bool:
    """Return True if `model_id` names a directory of recorded replies."""
    return model_id is not None and model_id.startswith(RECORDED_PREFIX)


def parallel_of(choice: Choice, slots: int) -> int:
    """Requests that the model of `choice` answers at the same time; the embedded one has `slots`."""
    return slots if is_embedded(choice.model_id) else PARALLEL


def known_model_id(choice: Choice) -> str | None:
    """The id that the opened model will have; None where only its server can tell."""
    if choice.model_id is None:
        return None
    if is_ollama(choice.model_id):  # its chat interface uses the model's own template, `ollama/` a guessed one
        return f"ollama_chat/{choice.model_id.partition('/')[2]}"
    return with_provider(choice.model_id) if choice.api_base else choice.model_id


def name_in_cache(choice: Choice, weights: Path | None) -> str | None:
    """The name that cached replies of the model stand under: its id, and the file's name for `weights` of the
    user's own, wherever they lie; None where only its server can tell."""
    from .weights import QWEN_CODER_1_5B

    if is_embedded(choice.model_id) and weights is not None and weights.name != QWEN_CODER_1_5B.file:
        return f"{EMBEDDED}/{weights.name}"
    return known_model_id(choice)


def with_provider(model_id: str) -> str:
    """`model_id` as LiteLLM wants it for a server of one's own: OpenAI's protocol unless it names a provider."""
    prefix, slash, _ = model_id.partition("/")
    if slash and (prefix in USUAL_PREFIXES or (prefix.islower() and _is_provider(prefix))):
        return model_id
    return f"openai/{model_id}"


def check_known(choice: Choice) -> None:
    """Raise UsageError for a model that is named, and served by no provider that LiteLLM knows."""
    name = choice.model_id or EMBEDDED
    if choice.api_base or is_embedded(name) or is_recorded(name) or provider_of(name):
        return
    if name.partition("/")[0] in USUAL_PREFIXES:
        return
    from .litellm_import import load_litellm

    try:
        load_litellm().get_llm_provider(name)
    except Exception as error:  # LiteLLM's own types
        known = [EMBEDDED, *(provider.default_model for provider in PROVIDERS)]
        near = difflib.get_close_matches(name, known, 1)
        way = f"did you mean {near[0]}?" if near else "name it as LiteLLM does, such as openai/gpt-4.1-mini."
        raise UsageError(f"No provider of a model {name} is known; {way}") from error


def _is_provider(prefix: str) -> bool:
    from .litellm_import import load_litellm

    return prefix in {str(getattr(provider, "value", provider)) for provider in load_litellm().provider_list}
