from __future__ import annotations

from pathlib import Path

import pytest

from agents.llm_backends.hosted import hosted_model
from agents.llm_backends.litellm_import import load_litellm
from agents.llm_backends.selection import USUAL_PREFIXES, Choice, known_model_id, name_in_cache, parallel_of
from agents.llm_backends.weights import QWEN_CODER_1_5B

ADDRESS = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("model_id", "api_base"),
    [
        ("m", ADDRESS),
        ("openai/m", ADDRESS),
        ("hosted_vllm/Qwen/Qwen2.5-Coder-7B", ADDRESS),
        ("Qwen/Qwen2.5-Coder-7B", ADDRESS),
        ("deepseek-ai/coder", ADDRESS),
        ("together_ai/x", ADDRESS),
        ("ollama/qwen2.5-coder:7b", None),
        ("ollama_chat/qwen2.5-coder:7b", "http://127.0.0.1:9"),
        ("anthropic/claude-haiku-4-5", None),
    ],
)
def test_the_id_told_beforehand_is_that_of_the_opened_model(model_id: str, api_base: str | None) -> None:
    opened = hosted_model(model_id, api_base, environ={"ANTHROPIC_API_KEY": "k"})
    assert known_model_id(Choice(model_id, "", api_base)) == opened.model_id


def test_what_is_taken_for_a_providers_name_is_one_of_litellms_and_those_are_in_lower_case() -> None:
    names = {str(getattr(provider, "value", provider)) for provider in load_litellm().provider_list}
    assert names >= USUAL_PREFIXES
    assert all(name.islower() for name in names)


def test_a_model_that_only_its_server_can_name_has_no_name_yet() -> None:
    assert name_in_cache(Choice(None, "", ADDRESS), None) is None


def test_weights_of_the_users_own_have_a_cache_of_their_own_wherever_they_lie() -> None:
    embedded = Choice("embedded", "")
    assert name_in_cache(embedded, None) == "embedded"
    assert name_in_cache(embedded, Path("/a") / QWEN_CODER_1_5B.file) == "embedded"
    assert name_in_cache(embedded, Path("/a/other.gguf")) == name_in_cache(embedded, Path("/b/other.gguf"))
    assert name_in_cache(embedded, Path("/a/other.gguf")) != "embedded"
    assert known_model_id(embedded) == "embedded"


def test_how_many_requests_are_answered_at_once_needs_no_model() -> None:
    assert [parallel_of(Choice(name, ""), 3) for name in ("embedded", "gpt-4o", "recorded:x")] == [3, 8, 8]
