"""The one way to import LiteLLM."""

from __future__ import annotations

import logging
import os
from typing import Any

from .no_dotenv import no_dotenv


def load_litellm() -> Any:
    """Import LiteLLM without its network fetch, its banners and its log lines."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with no_dotenv():
        import litellm

    litellm.suppress_debug_info = True
    litellm.disable_streaming_logging = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        # Its handler writes to standard output, where only the JSON document may stand.
        logging.getLogger(name).handlers[:] = [logging.NullHandler()]
    return litellm
