"""Sessions of the page: an address opens it once, for a key that the browser keeps and sends as a header.

A cookie would go to every port of the host, and an address on a command line is read by every user of the machine.
"""

from __future__ import annotations

import hmac
import secrets
import tempfile
from pathlib import Path

NO_ADDRESS = (
    "This address opens nothing: each opens the page once. The terminal that runs `greenloop ui` shows a new one."
)
USED_TWICE = (
    "This address was used before, so the session that it began has ended. If that was not you, another user of "
    "this machine has read it: look at the runs. The terminal that runs `greenloop ui` shows a new address."
)


class Sessions:
    """The addresses that still open the page, and the keys that were given for others."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._unused: set[str] = set()
        self._keys: dict[str, str] = {}

    def new_address(self) -> str:
        """Return an address that opens the page once; its code is a fragment, which no request and no log has."""
        code = secrets.token_urlsafe(32)
        self._unused.add(code)
        return f"{self._root}#code={code}"

    def begin(self, code: str) -> tuple[str, str, str]:
        """Exchange a code: return a key (or ""), why there is none, and what the terminal is to say. A code's
        second use ends the session of the first: one of the two was somebody else's."""
        if code in self._unused:
            self._unused.remove(code)
            self._keys[code] = secrets.token_urlsafe(32)
            return self._keys[code], "", f"Opened in a browser; for another one: {self.new_address()}"
        if self._keys.pop(code, None) is None:
            return "", NO_ADDRESS, ""
        told = f"That address was used twice, and its session has ended; a new one: {self.new_address()}"
        return "", USED_TWICE, told

    def knows(self, key: str, *, report: bool = False) -> bool:
        """Return True for the key of a session that has not ended, or for what `report_key` makes of one."""
        known = map(report_key, self._keys.values()) if report else self._keys.values()
        return any(hmac.compare_digest(key.encode(), each.encode()) for each in known)


def report_key(key: str) -> str:
    """Return what opens the report alone: it stands in an address, where a session's own key must not."""
    return hmac.digest(key.encode(), b"report", "sha256").hex()


def redirect_file(address: str, folder: Path) -> Path:
    """Write a page that leads a browser to `address` into a new folder in the work directory `folder`, for this
    user's eyes alone. Raises OSError."""
    page = Path(tempfile.mkdtemp(prefix="page-", dir=folder)) / "page.html"
    page.touch(0o600)
    page.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">\n', encoding="utf-8")
    return page
