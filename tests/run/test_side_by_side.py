"""`--effort high` where the Critic is asked: two replacements and a draft at once, and the board decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents import Settings, generate

from ..support.commands import greenloop
from ..support.provider import Provider, serving
from .test_approvals import MENDED, SPEC, WRONG, answering

TRACED = "# The failing call, line by line"
ALSO_WRONG = WRONG.replace("\n", "\n\n\n", 1).replace("return", "return 7 or")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as server:
        server.script(
            answering(lambda handler: MENDED if TRACED in handler.body["messages"][-1]["content"] else ALSO_WRONG)
        )
        yield server


@pytest.mark.thorough
def test_the_board_chooses_among_replacements_made_side_by_side(tmp_path: Path, provider: Provider) -> None:
    settings = Settings(model="openai/gpt-4o", api_base=provider.api_base, effort="high", mutation=False)
    result = generate(SPEC, settings=settings, environ={"OPENAI_API_KEY": "k"}, work_dir=tmp_path / "work_dir")
    assert result.code == MENDED
    critics = [
        text
        for request in provider.requests
        if "Write the complete corrected" in (text := request["messages"][-1]["content"])
    ]
    assert [TRACED in each for each in sorted(critics, key=len)] == [False, True]
    assert all("# Attempts so far" in each and "(it returned 3)" in each for each in critics)
    shown = greenloop(tmp_path, "show", Path(str(result.run_dir)).name).stdout
    assert "Next: repair." in shown
    assert shown.count("repair") >= 3, "both replacements are listed with what they did"
