"""The program of the call process."""

from __future__ import annotations

import json

from ..proxy.frames import ANSWER, HELLO, ChannelClosed, FrameSocket, FrameTooLong
from .called import Called


def main(descriptor: int) -> None:
    """Answer calls until the channel closes. The first frame says which function is called."""
    channel = FrameSocket(descriptor)
    channel.send(HELLO, b"")
    called = None
    while True:
        try:
            _, payload = channel.receive()
        except ChannelClosed:
            return
        if called is None:
            called = Called(**json.loads(payload))
            continue
        answer = called.answer(*json.loads(payload))
        try:
            channel.send(ANSWER, json.dumps(answer).encode())
        except FrameTooLong as error:
            channel.send(ANSWER, json.dumps(["unshareable", f"the value is too long: {error}"]).encode())
