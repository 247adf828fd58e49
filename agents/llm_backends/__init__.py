"""Models: hosted, embedded, recorded. The only package that imports smolagents, litellm or xllamacpp, and only
when a model is asked for."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ModelError
from ..events import EventHandler, Note
from .providers import RECORDED_PREFIX, is_embedded, is_recorded

if TYPE_CHECKING:
    from .recorded import ReplyStore
    from .selection import Choice
    from .streaming_model import StreamingModel

_SMALL_BILLIONS = 4.0
_BILLIONS = re.compile(r"(?<![\d.a-z])(\d+(?:\.\d+)?)b(?![a-z\d])")


def is_small(model_id: str | None) -> bool:
    """Return True for the embedded model, a model whose name says that it has at most four billion parameters
    (`ollama/qwen2.5-coder:1.5b`), and replies that were recorded from such a one."""
    names = [model_id or ""]
    if is_recorded(model_id):
        directory = Path(names[0].removeprefix(RECORDED_PREFIX))
        names = [path.name for path in directory.iterdir()] if directory.is_dir() else []
    sizes = (float(size) for name in names for size in _BILLIONS.findall(name.lower()))
    return any(map(is_embedded, names)) or any(size <= _SMALL_BILLIONS for size in sizes)


def get_model(choice: Choice, weights: Path | None, emit: EventHandler, slots: int = 1) -> StreamingModel:
    """Return the opened smolagents `Model` of `choice`, which is not a directory of recorded replies.

    For the embedded model, with `slots` concurrent requests, fetch the weights and emit the progress. Raises
    ModelError and UsageError.
    """
    if not is_embedded(choice.model_id):
        from .hosted import hosted_model

        return hosted_model(choice.model_id, choice.api_base)
    from .embedded import EmbeddedModel
    from .weights import fetch, locate

    path = locate(weights) or fetch(emit)
    return EmbeddedModel(path, on_wait=lambda sentence: emit(Note(sentence)), slots=slots)


def import_ahead(choice: Choice) -> None:
    """Begin to import the libraries of a hosted model in a thread, while the caller does other work."""
    if not (is_embedded(choice.model_id) or is_recorded(choice.model_id)):
        threading.Thread(target=_import_for_hosted, daemon=True).start()


def _import_for_hosted() -> None:
    from .litellm_import import load_litellm

    with suppress(Exception):  # raised again at the first request
        load_litellm()
        import_module(".hosted", __name__)  # with smolagents


def recorded_replies(choice: Choice) -> ReplyStore:
    """Return the replies in the directory that `choice` names. Raises ModelError where it is missing."""
    from .recorded import ReplyStore

    directory = Path((choice.model_id or "").removeprefix(RECORDED_PREFIX))
    if not directory.is_dir():
        remedy = "check the path, or make one with a real --model and --record"
        raise ModelError("not_recorded", f"There is no directory of recorded replies at {directory}; {remedy}.")
    return ReplyStore(directory)
