"""The settings that count for each command: what it lacks here it refuses."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import (
    AnswerSettings,
    ApproveSettings,
    HealerSettings,
    LimitSettings,
    LoopSettings,
    ModelSettings,
    PlaceSettings,
    SandboxSettings,
    StrategySettings,
    WaitSettings,
)


@dataclass(frozen=True, kw_only=True)
class RunSettings(
    ApproveSettings,
    AnswerSettings,
    PlaceSettings,
    SandboxSettings,
    StrategySettings,
    LimitSettings,
    ModelSettings,
):
    """For a run of a spec."""


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
class McpSettings(PlaceSettings, SandboxSettings, StrategySettings, LimitSettings, HealerSettings):
    """For an MCP server."""
