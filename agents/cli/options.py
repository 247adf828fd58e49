"""The settings that count for each command: what it lacks here it refuses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ..settings import (
    MORE,
    AnswerSettings,
    ApproveSettings,
    HealerSettings,
    LimitSettings,
    LoopSettings,
    ModelSettings,
    PlaceSettings,
    SandboxSettings,
    StrategySettings,
    Use,
    WaitSettings,
)


@dataclass(frozen=True, kw_only=True)
class DebugSettings(ApproveSettings, PlaceSettings, SandboxSettings, LoopSettings, LimitSettings, ModelSettings):
    """For a debugger on a run, which has its strategy."""


@dataclass(frozen=True, kw_only=True)
class HealSettings(AnswerSettings, PlaceSettings, SandboxSettings, LimitSettings, HealerSettings):
    """For a heal."""


@dataclass(frozen=True, kw_only=True)
class BatchSettings(SandboxSettings, StrategySettings, LimitSettings, HealerSettings):
    """For a batch, which asks nobody and keeps its runs in its own directory."""


@dataclass(frozen=True, kw_only=True)
class UiSettings(WaitSettings, PlaceSettings, SandboxSettings, StrategySettings, LimitSettings, ModelSettings):
    """For the page, where each run says whether it waits for approvals."""


@dataclass(frozen=True, kw_only=True)
class McpSettings(SandboxSettings, StrategySettings, LimitSettings, HealerSettings):
    """For an MCP server, which clients start in any folder."""

    work_dir: Annotated[Path | None, MORE, Use.NONE] = None
    """Where runs are kept; by default the user's data directory."""
