"""`repair` with a model on a server."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agents import repair
from agents.repairing.options import RepairEvent, RepairOptions
from agents.repairing.search import chosen

from ..support.modules_on_disk import imported
from ..support.proposers import three
from ..support.provider import Answer, Fails, Provider, Streams, serving

pytestmark = pytest.mark.thorough
SOURCE = 'def price(text):\n    return float(text.replace("$", ""))\n'
CODES = three('def price(text):\n    return float(text.lstrip("$₹").replace(",", ""))')
REPLIES = [f"```python\n{code}\n```" for code in CODES]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[ModuleType]:
    with imported(tmp_path, SOURCE) as module:
        yield module


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for name in ("GREENLOOP_HEAL", "GREENLOOP_MODEL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    with serving() as provider:
        monkeypatch.setenv("GREENLOOP_API_BASE", provider.api_base)
        yield provider


def rupees(price: Any) -> None:
    assert price("₹1,299") == 1299.0


def test_a_named_model_is_asked_for_one_failure_once(shop: ModuleType, provider: Provider) -> None:
    provider.script(*(Streams([reply]) for reply in REPLIES))
    events: list[RepairEvent] = []
    price = repair(model="openai/m", tests=[rupees], on_event=events.append, prompt_extra="PRICES")(shop.price)
    assert [price("₹1,299"), price("₹1,299")] == [1299.0, 1299.0]
    assert len(provider.requests) == 3
    assert all("PRICES" in str(request) for request in provider.requests)
    assert "".join(event.delta for event in events if event.type == "propose_chunk") == "".join(REPLIES)


@pytest.mark.parametrize(
    ("answer", "seconds", "note"),
    [
        (lambda _: time.sleep(9), 5, "it takes longer than max_seconds=5; raise that."),
        (Fails(503, "Busy.", headers={"Retry-After": "0"}), 60, "try later."),
    ],
)
def test_a_note_names_no_option_of_a_command(
    shop: ModuleType, provider: Provider, answer: Answer, seconds: float, note: str
) -> None:
    provider.script(answer)
    price = repair(model="openai/m", tests=[rupees], max_seconds=seconds)(shop.price)
    with pytest.raises(ValueError, match="could not convert") as raised:
        price("₹1,299")
    assert raised.value.__notes__[0].endswith(note)


def test_a_model_that_refuses_leaves_the_exception_as_it_was_and_is_asked_again(
    shop: ModuleType, provider: Provider
) -> None:
    provider.script(Fails(401, "No such key.", code="invalid_api_key"), *(Streams([each]) for each in REPLIES))
    price = repair(model="openai/m", tests=[rupees])(shop.price)
    with pytest.raises(ValueError, match="could not convert") as raised:
        price("₹1,299")
    assert "did not heal" in raised.value.__notes__[0]
    assert price("₹1,299") == 1299.0


def test_a_key_in_the_environment_is_no_consent(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GREENLOOP_API_BASE")
    _, choice = chosen(RepairOptions(), os.environ)
    assert choice.model_id is not None
    assert choice.model_id.split("/")[0] in ("embedded", "ollama_chat")
    monkeypatch.setenv("GREENLOOP_MODEL", "openai/named")
    assert chosen(RepairOptions(), os.environ)[1].model_id == "openai/named"
    assert chosen(RepairOptions(model="openai/mine"), os.environ)[1].model_id == "openai/mine"
