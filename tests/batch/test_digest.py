from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.batch.batch import digest_of
from agents.batch.records import Entry
from agents.llm_backends.selection import Choice
from agents.records import Example, Signature, Spec, SpecLimits
from agents.settings import Settings, Use, uses

from .made import entry

CHOICES = {
    "code_writer": Choice("m", "named"),
    "test_writer": Choice("m", "named"),
    "critic": Choice("m", "named"),
}
OTHER: dict[str, Any] = {
    "weights": Path("w"), "max_rounds": 4, "max_seconds": 9.0, "max_tokens": 9, "max_cost": 9.0, "drafts": 9,
    "effort": "high", "strategy": "single", "temperature": 0.1, "seed": 9, "mutation": False, "sandbox": "none",
    "answers": Path("a"), "python": Path("p"), "packages": ("numpy",),
}  # fmt: skip


def digest(spec: Spec | None = None, settings: Settings = Settings(), **models: str) -> str:
    choices = {**CHOICES, **{role: Choice(model, "named") for role, model in models.items()}}
    one = entry("a") if spec is None else Entry("a", "a.md", spec)
    return digest_of(one, settings, choices)  # type: ignore[arg-type]


def test_every_setting_with_an_effect_is_tried_here() -> None:
    assert {name for name, use in uses().items() if Use.DIGEST in use} == set(OTHER)


@pytest.mark.parametrize("name", sorted(OTHER))
def test_a_setting_with_an_effect_changes_the_digest(name: str) -> None:
    assert digest(settings=replace(Settings(), **{name: OTHER[name]})) != digest()


def test_other_settings_do_not() -> None:
    settings = Settings(work_dir=Path("w"), require="verified", record=Path("r"))
    assert digest(settings=settings) == digest()


@pytest.mark.parametrize(
    "changed",
    [
        {"text": "Other."},
        {"signature": Signature("f", "function", "def f(x)")},
        {"examples": (Example("assert f(1) == 1", "f(1) == 1"),)},
        {"user_tests": "def test_f(): pass"},
        {"limits": SpecLimits(max_rounds=2)},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_change_of_the_spec_changes_the_digest(changed: dict[str, Any]) -> None:
    assert digest(replace(Spec("a", "Text."), **changed)) != digest(Spec("a", "Text."))


def test_where_a_spec_stands_does_not() -> None:
    assert digest(Spec("a", "Text.", origin="x.md")) == digest(Spec("b", "Text.", origin="y.md"))


def test_another_model_of_any_role_does() -> None:
    found = {digest(), digest(code_writer="n"), digest(test_writer="n"), digest(critic="n")}
    assert len(found) == 4


def test_a_servers_address_counts_only_where_it_alone_names_the_model() -> None:
    def at(model: str | None, address: str) -> str:
        return digest_of(entry("a"), Settings(), {"critic": Choice(model, "named", address)})

    assert at("m", "http://one") == at("m", "http://two")
    assert at(None, "http://one") != at(None, "http://two")
