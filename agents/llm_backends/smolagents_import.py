"""The one way to import smolagents."""

from __future__ import annotations

from .litellm_import import no_dotenv

with no_dotenv():
    from smolagents.models import ChatMessage as ChatMessage
    from smolagents.models import ChatMessageStreamDelta as ChatMessageStreamDelta
    from smolagents.models import LiteLLMModel as LiteLLMModel
    from smolagents.models import MessageRole as MessageRole
    from smolagents.models import Model as Model
    from smolagents.monitoring import TokenUsage as TokenUsage
    from smolagents.tools import Tool as Tool
    from smolagents.tools import tool as tool
