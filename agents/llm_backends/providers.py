"""The hosted providers that greenloop knows: the variables of their keys, and a coding model of each.

Any other model id that LiteLLM understands works too; this table is only for choosing a model when none is named,
and for naming the variable of a rejected key. The default models are cheap, since a run makes many calls. They are
in LiteLLM's price data, which a test checks (except OpenRouter's, whose models change too often).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..settings import KEY_VARIABLES


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider: LiteLLM's prefix for it, and its default model."""

    name: str
    prefix: str
    default_model: str

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The environment variables for its key, the usual one first."""
        return KEY_VARIABLES[self.prefix]

    def key_variable_set(self, environ: Mapping[str, str]) -> str | None:
        """Return the first of its variables that is set and not empty."""
        return next((name for name in self.key_variables if environ.get(name, "").strip()), None)


PROVIDERS: tuple[Provider, ...] = (
    Provider("OpenAI", "openai", "gpt-4.1-mini"),
    Provider("Anthropic", "anthropic", "anthropic/claude-haiku-4-5"),
    Provider("Gemini", "gemini", "gemini/gemini-flash-latest"),
    Provider("Groq", "groq", "groq/openai/gpt-oss-120b"),
    Provider("Mistral", "mistral", "mistral/codestral-latest"),
    Provider("DeepSeek", "deepseek", "deepseek/deepseek-v4-flash"),
    Provider("OpenRouter", "openrouter", "openrouter/qwen/qwen3-coder"),
    Provider("xAI", "xai", "xai/grok-code-fast"),
    Provider("Cerebras", "cerebras", "cerebras/gpt-oss-120b"),
)

EMBEDDED = "embedded"
RECORDED_PREFIX = "recorded:"
_BARE_NAMES = {
    "openai": re.compile(r"(gpt|chatgpt|codex|o\d)\b", re.IGNORECASE),
    "anthropic": re.compile(r"claude\b"),
}


def provider_of(model_id: str) -> Provider | None:
    """Return the provider that serves `model_id` by LiteLLM's naming; None where it is not in the table."""
    prefix, slash, _ = model_id.partition("/")
    if not slash:
        prefix = next((name for name, bare in _BARE_NAMES.items() if bare.match(model_id)), "")
    return next((provider for provider in PROVIDERS if provider.prefix == prefix), None)


def is_embedded(model_id: str | None) -> bool:
    """Return True if `model_id` names the embedded model."""
    return model_id == EMBEDDED


def is_recorded(model_id: str | None) -> bool:
    """Return True if `model_id` names a directory of recorded replies."""
    return model_id is not None and model_id.startswith(RECORDED_PREFIX)


def is_ollama(model_id: str) -> bool:
    """Return True if Ollama serves `model_id`."""
    return model_id.startswith(("ollama/", "ollama_chat/"))
