"""The one way to import LiteLLM, and to import any library that would read a `.env` file into the environment."""

from __future__ import annotations

import gc
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .providers import is_embedded, is_ollama

_SWITCH = "PYTHON_DOTENV_DISABLED"  # python-dotenv looks at it whenever it is asked to load a file
_lock = threading.RLock()


@contextmanager
def no_dotenv() -> Iterator[None]:
    """Have python-dotenv load nothing during the body."""
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
    """Collect no garbage during the body: importing makes little, and looking for it takes a tenth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def load_litellm() -> Any:
    """Import LiteLLM without its network fetch, its banners and its log lines."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with no_dotenv(), _no_collections():
        import litellm
        from litellm.llms.custom_httpx.http_handler import HTTPHandler

        from .guarded_client import guarded

        if litellm.client_session is None:  # OpenAI's library asks with this, all others with clients made so
            create = HTTPHandler.create_client
            HTTPHandler.create_client = lambda self: guarded(create(self))
            litellm.client_session = HTTPHandler().client

    litellm.suppress_debug_info = True
    litellm.disable_streaming_logging = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        # Its handler writes to standard output, where only the JSON document may stand.
        logging.getLogger(name).handlers[:] = [logging.NullHandler()]
    return litellm


def price_usd(
    model_id: str, prompt_tokens: int, completion_tokens: int, cached_prompt_tokens: int = 0
) -> float | None:
    """Price of so many tokens by LiteLLM's price data, 0 on this machine; None where it lists no such model."""
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
