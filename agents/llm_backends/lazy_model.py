"""A model that is opened by its first request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..errors import GreenloopError, ModelError

if TYPE_CHECKING:
    from .streaming_model import ChatMessage, ChatMessageStreamDelta, StreamingModel


class LazyModel:
    """Proxy of a model that opens it at the first request; attributes that are known do not open it.

    It is opened once, whatever the number of threads, and together with its `companions`, so that an error of one
    model shows before another is paid. A permanent error is kept, and raised at once by later requests.
    """

    def __init__(
        self, model_id: str | None, open_model: Callable[[], StreamingModel], companions: list[LazyModel]
    ) -> None:
        """Join the shared list `companions`. `model_id` None: only the opened model has it."""
        self._model_id = model_id
        self._open_model = open_model
        self._companions = companions
        self._model: StreamingModel | None = None
        self._fault: GreenloopError | None = None
        self._lock = threading.Lock()
        companions.append(self)

    @property
    def model_id(self) -> str:
        """The model's id; opens the model where it is not known."""
        return self._model_id or self._opened().model_id

    @property
    def api_base(self) -> str | None:
        """The address that the opened model calls; None for its provider's."""
        return getattr(self._model, "api_base", None)

    @property
    def is_open(self) -> bool:
        """True once the model and its companions are open."""
        return all(each._model is not None for each in self._companions)

    def open(self) -> Iterator[None]:
        """Open the model and its companions; yield after each. Raises ModelError and UsageError."""
        for each in self._companions:
            each._opened()
            yield

    def generate_stream(
        self, messages: list[ChatMessage | dict[str, Any]], stop_sequences: list[str] | None = None, **params: Any
    ) -> Iterator[ChatMessageStreamDelta]:
        """Stream one reply; open the model first if it is not open."""
        return self._opened().generate_stream(messages, stop_sequences, **params)

    def close(self) -> None:
        """Close the model if it was opened."""
        getattr(self._model, "close", lambda: None)()

    def _opened(self) -> StreamingModel:
        with self._lock:
            if self._fault is not None:
                raise self._fault
            if self._model is None:
                try:
                    self._model = self._open_model()
                except GreenloopError as fault:
                    if not (isinstance(fault, ModelError) and fault.transient):
                        self._fault = fault
                    raise
            return self._model
