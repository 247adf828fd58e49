"""The commands for models and sandbox: `models` and `sandbox ...`."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from ..settings import SandboxSettings, Settings
from ..terminal.console import Console


def list_models(*, weights: Path | None = None) -> int:
    """List every backend: usable or not, and why.

    Args:
        weights: A GGUF file for the embedded model.
    """
    from ..llm_backends.selection import choose, list_models, probe_ollama
    from ..llm_backends.weights import QWEN_CODER_1_5B, locate

    found = locate(weights)
    state = f"its weights are in {found}" if found else "its weights are fetched when it is first used (1.1 GB)"
    chosen = choose(Settings.from_environment(dotenv=False), os.environ, probe_ollama)
    told = [f"embedded: usable; {QWEN_CODER_1_5B.model_name}, {state}", *list_models(os.environ, probe_ollama)]
    Console().lines([*told, "", f"Without --model: {chosen.model_id or chosen.api_base}. {chosen.reason}"])
    return 0


def fetch() -> int:
    """Fetch the embedded model's weights ahead of time, for images and offline machines."""
    from ..llm_backends.weights import fetch

    console = Console()
    with console.progress():
        path = fetch(console.emit)
    console.lines([str(path)])
    return 0


def check(*, where: SandboxSettings = SandboxSettings()) -> int:
    """Try every attack on the sandbox of this machine: exit 0 only if each is stopped."""
    from ..sandbox import open_sandbox
    from ..sandbox.check import checks
    from ..sandbox.packages import open_interpreter

    with closing(open_sandbox(where.sandbox, open_interpreter(where.python))) as box:
        results = Console().attacks(box.name, checks(box))
    return 0 if all(result.status in ("stopped", "known residual", "unprovable") for result in results) else 1


def build(*, packages: str = "") -> int:
    """Build the image that the sandbox `container` needs, with podman or docker.

    Args:
        packages: Packages that specs may name, joined by commas: numpy,pandas>=2.
    """
    from ..sandbox.container.engine import build_image
    from ..spec.modules import requirements

    Console().say(f"Built {build_image(requirements([packages]))}.")
    return 0
