"""The program of the code process."""

from __future__ import annotations

import sys

from ..proxy.frames import HELLO, FrameSocket
from .code import Code
from .responder import Responder


def main(descriptor: int) -> None:
    """Serve the test process until the channel closes."""
    channel = FrameSocket(descriptor)
    channel.send(HELLO, b"")
    code = Code()
    responder = Responder(channel, code)
    try:
        responder.serve()
    finally:
        sys.stderr = sys.__stderr__
