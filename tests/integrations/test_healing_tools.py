"""`healing_tool` of each framework, with the real libraries where they are installed."""

from __future__ import annotations

FIXED = """```python
def price(text: str) -> float:
    return float(text.lstrip("$₹").replace(",", ""))
```"""
