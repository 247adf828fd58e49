"""Fixtures of heals, on a scripted provider."""

from __future__ import annotations

from ..support.heals import heals as heals
from ..support.heals import sandbox as sandbox
