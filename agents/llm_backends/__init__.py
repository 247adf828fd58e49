"""Models: hosted, embedded, recorded. The only package that imports smolagents, litellm or xllamacpp, and only
when a model is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..budget import Budget
from ..errors import ModelError
from ..events import Fetching, Note, Streamed, Tell
from ..records import Request

if TYPE_CHECKING:
    from .attempt import Caller, StreamingModel
    from .choice import Choice

EMBEDDED = "embedded"
RECORDED_PREFIX = "recorded:"
_SMALL_BILLIONS = 4.0
_BILLIONS = re.compile(r"(?<![\d.a-z])(\d+(?:\.\d+)?)b(?![a-z\d])")


def is_embedded(model_id: str | None) -> bool:
    """Whether `model_id` names the embedded model."""
    return model_id == EMBEDDED


def is_small(model_id: str | None) -> bool:
    """Whether replies must be kept short: the embedded model, a model whose name says that it has at most four
    billion parameters (`ollama/qwen2.5-coder:1.5b`), or replies that were recorded from such a one."""
    if model_id is not None and model_id.startswith(RECORDED_PREFIX):
        directory = Path(model_id.removeprefix(RECORDED_PREFIX))
        return directory.is_dir() and any(is_small(path.name) for path in directory.iterdir())
    sizes = [float(size) for size in _BILLIONS.findall((model_id or "").lower())]
    return is_embedded(model_id) or any(size <= _SMALL_BILLIONS for size in sizes)


def get_model(choice: Choice, weights: Path | None, tell: Tell) -> StreamingModel | None:
    """The smolagents `Model` of `choice`; None for recorded replies, which need none.

    For the embedded model the weights are fetched here, with progress told. Raises ModelError and UsageError.
    """
    if choice.model_id is not None and choice.model_id.startswith(RECORDED_PREFIX):
        return None
    if not is_embedded(choice.model_id):
        from .hosted import hosted_model

        return hosted_model(choice.model_id, choice.api_base)
    from .embedded import EmbeddedModel
    from .weights import fetch, locate

    path = locate(weights) or fetch(lambda p: tell(Fetching(p.source, p.done, p.total)))
    return EmbeddedModel(path, on_wait=lambda sentence: tell(Note(sentence)))


def get_caller(choice: Choice, model: StreamingModel | None, budget: Budget, replies: Path, tell: Tell) -> Caller:
    """A caller for `model` whose replies are kept in `replies`; for recorded replies, one that only replays."""
    from .attempt import Caller
    from .recorded import ReplyStore

    def on_text(request: Request, text: str) -> None:
        tell(Streamed(request, text))

    def on_retry(request: Request, fault: ModelError, seconds: float) -> None:
        tell(Note(f"{fault} Trying again in {seconds:.0f} s.", warning=True))

    if model is None:
        directory = Path((choice.model_id or "").removeprefix(RECORDED_PREFIX))
        if not directory.is_dir():
            raise ModelError("not_recorded", f"There is no directory of recorded replies at {directory}.")
        store = ReplyStore(directory)
    else:
        store = ReplyStore(replies, model.model_id)
    return Caller(model, budget, store=store, on_text=on_text, on_retry=on_retry)


def at_once(model: StreamingModel | None) -> int:
    """Requests that `model` answers at the same time; None stands for recorded replies."""
    from .attempt import RECORDED_PARALLEL

    return model.parallel if model else RECORDED_PARALLEL


def closing(model: StreamingModel | None) -> Callable[[], None]:
    """What ends `model`; nothing for those that hold nothing."""
    close: Callable[[], None] = getattr(model, "close", lambda: None)
    return close
