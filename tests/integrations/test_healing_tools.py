"""`healing_tool` of each framework, with the real libraries where they are installed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ..support import event_loops
from ..support.proposers import Replies

FIXED = '''```python
def price(text: str) -> float:
    return float(text.lstrip("$₹").replace(",", ""))
```'''
