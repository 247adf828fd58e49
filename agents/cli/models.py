"""Lists the models, and fetches the embedded one's weights."""

from __future__ import annotations

import os
from pathlib import Path

from ..settings import Settings
from ..terminal.console import Console


def list_models(*, weights: Path | None = None) -> int:
    """List every backend: usable or not, and why.

    Parameters
    ----------
    weights
        A GGUF file for the embedded model.
    """
    from ..llm_backends.selection import choose, list_models, probe_ollama
    from ..llm_backends.weights import QWEN_CODER_1_5B, locate

    found = locate(weights)
    state = f"its weights are in {found}" if found else "its weights are fetched when it is first used (1.1 GB)"
    chosen = choose(Settings(model=os.environ.get("GREENLOOP_MODEL")), os.environ, probe_ollama)
    Console().lines([f"embedded: usable; {QWEN_CODER_1_5B.model_name}, {state}"])
    Console().lines(list_models(os.environ, probe_ollama))
    Console().lines(["", f"Without --model: {chosen.model_id}. {chosen.reason}"])
    return 0


def fetch() -> int:
    """Fetch the embedded model's weights ahead of time, for images and offline machines."""
    from ..llm_backends.weights import fetch

    console = Console()
    with console.progress():
        path = fetch(console.emit)
    console.lines([str(path)])
    return 0
