from __future__ import annotations

import pytest

from agents.llm_backends.litellm_import import load_litellm
from agents.llm_backends.providers import PROVIDERS, Provider, provider_of


@pytest.mark.parametrize(
    ("model_id", "name"),
    [
        ("gpt-4o", "OpenAI"),
        ("o3-mini", "OpenAI"),
        ("openai/gpt-4o", "OpenAI"),
        ("claude-haiku-4-5", "Anthropic"),
        ("groq/openai/gpt-oss-120b", "Groq"),
        ("mistral/codestral-latest", "Mistral"),
    ],
)
def test_the_provider_is_known_by_prefix_or_by_the_usual_names(model_id: str, name: str) -> None:
    provider = provider_of(model_id)
    assert provider is not None
    assert provider.name == name


@pytest.mark.parametrize("model_id", ["embedded", "ollama/gpt-oss", "bedrock/claude", "olmo", "gptlike"])
def test_other_models_have_no_provider_of_the_table(model_id: str) -> None:
    assert provider_of(model_id) is None


@pytest.mark.parametrize(
    "provider", [each for each in PROVIDERS if each.prefix != "openrouter"], ids=lambda p: p.name
)
def test_each_default_model_is_a_chat_model_with_a_price(provider: Provider) -> None:
    litellm = load_litellm()
    entry = litellm.get_model_info(provider.default_model)
    assert entry["mode"] == "chat"
    assert entry["input_cost_per_token"] > 0
    assert litellm.get_llm_provider(provider.default_model)[1] == provider.prefix
