from __future__ import annotations

import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from agents.errors import UsageError
from agents.llm_backends.providers import PROVIDERS
from agents.llm_backends.selection import choose, list_models, ollama_address, preferred_ollama_model, probe_ollama
from agents.settings import Settings

from ..support.provider import serving


def no_ollama(address: str) -> None:
    return None


def test_the_named_model_is_used_whatever_the_environment_offers() -> None:
    choice = choose(Settings(model="ollama/x"), {"OPENAI_API_KEY": "sk"}, no_ollama)
    assert (choice.model_id, choice.api_base) == ("ollama/x", None)


def test_a_role_may_have_a_model_of_its_own() -> None:
    settings = Settings(model="gpt-4o", critic_model="embedded")
    assert choose(settings, {}, no_ollama, "critic").model_id == "embedded"
    assert choose(settings, {}, no_ollama, "code_writer").model_id == "gpt-4o"
    assert choose(settings, {}, no_ollama).model_id == "gpt-4o"


def test_a_server_without_a_named_model_is_asked_for_its_own() -> None:
    choice = choose(Settings(api_base="http://127.0.0.1:1/v1"), {"OPENAI_API_KEY": "sk"}, no_ollama)
    assert (choice.model_id, choice.api_base) == (None, "http://127.0.0.1:1/v1")


def test_a_server_is_not_asked_for_a_model_that_runs_here() -> None:
    settings = Settings(model="gpt-4o", critic_model="embedded", api_base="http://127.0.0.1:1/v1")
    assert choose(settings, {}, no_ollama, "critic").api_base is None
    assert choose(settings, {}, no_ollama, "code_writer").api_base == "http://127.0.0.1:1/v1"


def test_a_server_is_not_asked_for_another_providers_model() -> None:
    settings = Settings(
        model="my-model", critic_model="groq/openai/gpt-oss-120b", api_base="http://127.0.0.1:1/v1"
    )
    assert choose(settings, {}, no_ollama, "critic").api_base is None
    assert choose(settings, {}, no_ollama, "code_writer").api_base == "http://127.0.0.1:1/v1"
    assert choose(replace(settings, model="openai/x"), {}, no_ollama).api_base == "http://127.0.0.1:1/v1"


def test_the_first_provider_whose_key_is_set_is_used_and_the_reason_names_the_variable() -> None:
    choice = choose(Settings(), {"GROQ_API_KEY": "g", "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": " "}, no_ollama)
    assert choice.model_id == "anthropic/claude-haiku-4-5"
    assert "ANTHROPIC_API_KEY" in choice.reason


def test_a_running_ollama_is_preferred_to_the_embedded_model() -> None:
    choice = choose(Settings(), {}, lambda address: ("llama3:8b", "qwen2.5-coder:7b"))
    assert choice.model_id == "ollama_chat/qwen2.5-coder:7b"
    assert choice.api_base == "http://127.0.0.1:11434"


def test_with_nothing_at_hand_the_embedded_model_is_used_and_the_reason_says_why() -> None:
    assert choose(Settings(), {}, no_ollama).model_id == "embedded"
    assert "no Ollama runs" in choose(Settings(), {}, no_ollama).reason
    empty = choose(Settings(), {}, lambda address: ())
    assert empty.model_id == "embedded"
    assert "no chat model" in empty.reason


def test_an_ollama_elsewhere_is_used_for_a_named_model_too() -> None:
    choice = choose(Settings(model="ollama/x"), {"OLLAMA_HOST": "gpu.local"}, no_ollama)
    assert choice.api_base == "http://gpu.local:11434"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("box", "http://box:11434"),
        ("box:1234", "http://box:1234"),
        ("https://box", "https://box:443"),
        ("http://box/", "http://box:80"),
        ("http://box:1234/", "http://box:1234"),
        ("https://box/ollama/", "https://box:443/ollama"),
        ("box:1234/ollama", "http://box:1234/ollama"),
        ("::1", "http://[::1]:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:1234", "http://[::1]:1234"),
    ],
)
def test_the_address_is_read_as_ollama_reads_it(host: str, address: str) -> None:
    assert ollama_address({"OLLAMA_HOST": host}) == address


def test_a_model_made_for_code_is_preferred_and_an_embedding_is_none() -> None:
    assert preferred_ollama_model(("llama3", "codellama", "qwen2.5-coder")) == "codellama"
    assert preferred_ollama_model(("nomic-embed-text", "llama3")) == "llama3"
    assert preferred_ollama_model(("nomic-embed-text",)) is None


def test_the_probe_reads_the_models_of_a_running_ollama() -> None:
    with serving({"/api/tags": {"models": [{"name": "a:1b"}, {"name": "b:2b"}]}}) as ollama:
        assert probe_ollama(ollama.origin) == ("a:1b", "b:2b")


@pytest.mark.parametrize("document", [{}, {"models": 3}, {"models": [{}]}, []])
def test_something_else_at_its_port_is_no_ollama(document: object) -> None:
    with serving({"/api/tags": document}) as other:
        assert probe_ollama(other.origin) is None


@pytest.mark.parametrize("answer", [b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000])
def test_a_server_of_another_protocol_at_its_port_is_no_ollama(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            asked, _ = listener.accept()
            with asked:
                asked.recv(1000)
                asked.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        assert probe_ollama(f"http://127.0.0.1:{listener.getsockname()[1]}") is None


def test_an_address_where_nothing_listens_is_no_ollama() -> None:
    with serving() as gone:
        address = gone.origin
    assert probe_ollama(address) is None
    assert probe_ollama("http://[nonsense") is None
    assert probe_ollama("http://two words:11434") is None


def test_the_list_says_of_every_backend_whether_it_is_usable_and_why() -> None:
    lines = list(list_models({"GOOGLE_API_KEY": "x"}, lambda address: ("llama3",)))
    assert [line.partition(":")[0] for line in lines] == [*(provider.name for provider in PROVIDERS), "Ollama"]
    assert "Gemini: usable, GOOGLE_API_KEY is set (gemini/gemini-flash-latest)" in lines
    assert "OpenAI: not usable, OPENAI_API_KEY is not set (gpt-4.1-mini)" in lines
    assert lines[-1].startswith("Ollama: usable, ")


def test_the_list_says_how_to_get_an_ollama_going() -> None:
    *_, stopped = list_models({}, no_ollama)
    *_, empty = list_models({}, lambda address: ())
    assert stopped.startswith("Ollama: not usable, ")
    assert empty.startswith("Ollama: not usable, ")
    assert "ollama serve" in stopped
    assert "ollama pull" in empty


def test_frozen_looks_for_no_server() -> None:
    def probe(address: str) -> tuple[str, ...] | None:
        raise AssertionError(f"{address} was asked")

    settings = Settings(frozen=True, cache=Path("c"))
    assert choose(settings, {}, probe).model_id == "embedded"
    assert choose(replace(settings, model="ollama/x"), {}, probe).model_id == "ollama/x"
    with pytest.raises(UsageError, match="name the model"):
        choose(replace(settings, api_base="http://127.0.0.1:1/v1"), {}, probe)


def test_frozen_without_a_cache_is_refused() -> None:
    with pytest.raises(UsageError, match="--cache DIR"):
        choose(Settings(frozen=True, model="gpt-4o"), {}, no_ollama)
