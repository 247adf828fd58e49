from __future__ import annotations

from pathlib import Path

import pytest

from agents.llm_backends import is_small


@pytest.mark.parametrize(
    "model_id",
    [
        "embedded",
        "ollama/qwen2.5-coder:1.5b",
        "openai/qwen2.5-coder-1.5b-instruct",
        "ollama/llama3.2:3b",
        "hosted_vllm/Qwen/Qwen2.5-Coder-0.5B-Instruct",
    ],
)
def test_a_model_whose_name_gives_few_parameters_is_small(model_id: str) -> None:
    assert is_small(model_id)


@pytest.mark.parametrize(
    "model_id",
    [None, "gpt-4o", "ollama/qwen2.5-coder:14b", "openai/qwen2.5-coder-7b-instruct", "groq/llama-3.3-70b"],
)
def test_other_models_are_not(model_id: str | None) -> None:
    assert not is_small(model_id)


def test_recorded_replies_are_as_small_as_the_model_they_are_from(tmp_path: Path) -> None:
    (tmp_path / "openai-qwen2.5-coder-1.5b-instruct").mkdir()
    assert is_small(f"recorded:{tmp_path}")
    assert not is_small(f"recorded:{tmp_path / 'nowhere'}")
    (tmp_path / "large" / "gpt-4o").mkdir(parents=True)
    assert not is_small(f"recorded:{tmp_path / 'large'}")


def test_a_folder_of_replies_that_is_named_like_one_is_a_models_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recorded:.").mkdir()
    assert not is_small("recorded:.")
