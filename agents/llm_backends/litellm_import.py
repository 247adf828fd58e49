"""Imports of LiteLLM and of other libraries that would load a `.env` file into the environment."""

from __future__ import annotations

import gc
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .providers import is_embedded, is_ollama

_SWITCH = "PYTHON_DOTENV_DISABLED"  # python-dotenv reads it before it loads a file
_lock = threading.RLock()


@contextmanager
def no_dotenv() -> Iterator[None]:
    """Turn python-dotenv off during the body."""
    with _lock:
        before = os.environ.get(_SWITCH)
        os.environ[_SWITCH] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SWITCH]
            else:
                os.environ[_SWITCH] = before


@contextmanager
def _no_collections() -> Iterator[None]:
    """Turn garbage collection off during the body: it takes a tenth of the time of imports."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def load_litellm() -> Any:
    """Import LiteLLM without its network request, its banners and its log lines."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with no_dotenv(), _no_collections():
        import litellm
        from litellm.llms.custom_httpx.http_handler import HTTPHandler

        from .guarded_client import guarded

        if litellm.client_session is None:  # OpenAI's library uses this client, all others use clients made so
            create = HTTPHandler.create_client
            HTTPHandler.create_client = lambda self: guarded(create(self))
            litellm.client_session = HTTPHandler().client

    litellm.suppress_debug_info = True
    litellm.disable_streaming_logging = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        # Its handler writes to standard output, which is for the JSON document alone.
        logging.getLogger(name).handlers[:] = [logging.NullHandler()]
    return litellm


def price_usd(
    model_id: str, prompt_tokens: int, completion_tokens: int, cached_prompt_tokens: int = 0
) -> float | None:
    """Return the price of the tokens by LiteLLM's data, 0 for a local model; None where it has no price."""
    if is_embedded(model_id) or is_ollama(model_id):
        return 0.0
    try:
        prompt, completion = load_litellm().cost_per_token(
            model=model_id,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cache_read_input_tokens=cached_prompt_tokens,
        )
    except Exception as error:  # LiteLLM raises a bare Exception for a model without a price
        if "isn't mapped" in str(error):
            return None
        raise
    return float(prompt + completion)
