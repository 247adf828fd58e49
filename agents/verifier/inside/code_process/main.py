"""The program of the code process."""

from __future__ import annotations

import json
import os
import sys

from ..proxy.frames import HELLO, FrameSocket
from ..proxy.import_rule import ImportRule
from .responder import Code, Responder, Spare


def main(descriptor: int) -> None:
    """Serve the test process until the channel closes."""
    channel = FrameSocket(descriptor)
    spare = Spare(channel)
    if spare.taken_over is None:
        channel.send(HELLO, b"")
    else:
        channel = spare.taken_over
    with open(f"{sys.path[0]}/inside/importable.json", "rb") as file:  # noqa: PTH123 - pathlib need not be imported
        importable = json.load(file)
    if importable["allowed"] is not None:
        rule = ImportRule(importable["allowed"], importable["named"])
        rule.forget_others()
        sys.meta_path.insert(0, rule)
    code = Code()
    os.register_at_fork(after_in_child=channel.close)  # the process that is asked answers, and no copy of it
    responder = Responder(channel, code, importable["modules"], spare)
    try:
        responder.serve()
    finally:
        sys.stderr = sys.__stderr__
