"""No test reaches a real model: the network ends at loopback, and no key or proxy of the user's is in sight,
nor that they run in CI, where output is another.

A test marked `embedded` may fetch weights.
"""

from __future__ import annotations

import asyncio
import compileall
import errno
import ipaddress
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

_USERS_OWN = re.compile(r"(_API_KEY|_API_BASE|_PROXY|_proxy)$|^(GREENLOOP|OLLAMA|LITELLM)_")
_OF_CI = ("CI", "TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL", "CODEBUILD_BUILD_ID")
_LOOPBACK_NAMES = (None, "", "localhost", b"localhost")


class _Network:
    """Return True if this test may leave the machine."""

    open = False


def pytest_configure(config: pytest.Config) -> None:
    # LiteLLM ignores this warning of its own types at import; pytest forgets that from test to test.
    config.addinivalue_line("filterwarnings", "ignore:.*`ReadOnly` qualifier")
    if not hasattr(config, "workerinput"):
        # Hundreds of processes import the package; where nothing may be written at import each would compile it.
        compileall.compile_dir(Path(__file__).parents[1] / "agents", quiet=2)
    # LiteLLM asks for the main thread's event loop, which asyncio makes unless it was told of one or of none; the
    # next `asyncio.run` would drop that loop unclosed, and whichever test collects it would fail.
    asyncio.set_event_loop(None)
    _forget_the_users_own()
    sys.addaudithook(_refuse_the_outside)
    # One input may take long on a busy machine; a test as a whole has its timeout.
    hypothesis.settings.register_profile("any machine", deadline=None)
    hypothesis.settings.load_profile("any machine")
    # A suite that a shell started in the background ignores Ctrl-C, and so would every process that it tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _loopback_only(request: pytest.FixtureRequest) -> Iterator[None]:
    _forget_the_users_own()  # again: importing smolagents reads a `.env` into the environment
    _Network.open = request.node.get_closest_marker("embedded") is not None
    yield
    _Network.open = False


def _forget_the_users_own() -> None:
    for name in [name for name in os.environ if _USERS_OWN.search(name) or name in _OF_CI]:
        del os.environ[name]


def _refuse_the_outside(event: str, arguments: tuple[object, ...]) -> None:
    if _Network.open:
        return
    if event == "socket.connect" and isinstance(arguments[1], tuple) and not _is_loopback(arguments[1][0]):
        raise OSError(errno.ENETUNREACH, f"tests reach no network, so not {arguments[1]}")
    if event == "socket.getaddrinfo" and not _is_loopback(arguments[0]):
        raise socket.gaierror(socket.EAI_NONAME, f"tests resolve no names, so not {arguments[0]!r}")


def _is_loopback(host: object) -> bool:
    if host in _LOOPBACK_NAMES or not isinstance(host, str):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
