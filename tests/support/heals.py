"""`heal` with a scripted model, from the command line and in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agents.healing.heal import heal_case
from agents.healing.request import open_case
from agents.records import Reply, Request
from agents.records.heal import HealRequest, HealResult
from agents.roles.ask import LARGE_MODEL
from agents.roles.healer import Healer
from agents.sandbox import Sandbox, open_sandbox

from .commands import ROOT, greenloop
from .proposers import three
from .provider import Answer, Provider, Streams, serving

SCHEMA = json.loads((ROOT / "docs/schema/heal.json").read_text())


@dataclass
class Heals:
    """Runs `heal` in `folder`; `requests` are what the provider was asked."""

    folder: Path
    provider: Provider
    document: dict[str, Any] = field(default_factory=dict)
    error: str = ""

    @property
    def requests(self) -> list[dict[str, Any]]:
        return self.provider.requests

    def script(self, text: str | bytes, name: str = "s.py") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def replies(self, *codes: str) -> None:
        self.provider.script(*(Streams([f"```python\n{code}```\n"]) for code in codes))

    def alike(self, code: str) -> None:
        """Script three programs that do the same."""
        self.replies(*three(code))

    def answers(self, *answers: Answer) -> None:
        self.provider.script(*answers)

    def run(self, *arguments: str, extra: dict[str, str] | None = None) -> int:
        """The exit code; the JSON document is kept."""
        model = ("--model", "openai/tiny-1b", "--api-base", self.provider.api_base)
        keyed = {"OPENAI_API_KEY": "k", **(extra or {})}
        ended = greenloop(self.folder, "heal", "--json", *model, *arguments, extra=keyed)
        self.error = ended.stderr
        assert "Traceback (most recent" not in ended.stderr, ended.stderr
        self.document = json.loads(ended.stdout)
        Draft202012Validator(SCHEMA).validate(self.document)
        assert self.document["exit_code"] == ended.returncode
        return ended.returncode

    def approve(self, *arguments: str) -> str:
        """Run on a terminal, and say yes to the patch; return what was shown before."""
        from .pseudo_terminal import on_terminal

        asking = ("--ask", "--model", "openai/tiny-1b", "--api-base", self.provider.api_base)
        with on_terminal(self.folder, "heal", *asking, *arguments, extra={"OPENAI_API_KEY": "k"}) as keyboard:
            shown = keyboard.see("y yes")
            keyboard.type("y")
            assert keyboard.end() == 0, keyboard.screen
        return shown


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    opened = open_sandbox()
    yield opened
    opened.close()


@pytest.fixture
def heals(tmp_path: Path) -> Iterator[Heals]:
    folder = tmp_path / "mit é leer"
    folder.mkdir()
    with serving() as provider:
        yield Heals(folder, provider)


def healed(
    sandbox: Sandbox, folder: Path, text: str, patches: Sequence[str], env: str = "", **expected: Any
) -> HealResult:
    """Heal a script in this process with patches of it, one round."""
    (folder / "s.py").write_text(text)
    environment = {"TOKEN": env} if env else {}
    case = open_case(HealRequest(path=str(folder / "s.py"), **expected), sandbox, environment, lambda: False)
    waiting = iter(patches)
    asked: list[Request] = []

    def ask(request: Request) -> Reply:
        asked.append(request)
        return Reply(f"```python\n{next(waiting)}\n```", "stop")

    result = heal_case(case, Healer(ask, LARGE_MODEL, seed=0), max_rounds=1)
    assert all("TOKEN-VALUE" not in str(request.messages) for request in asked)
    return result
