from __future__ import annotations

import os
import socket

import pytest


def test_no_connection_leaves_the_machine() -> None:
    with pytest.raises(OSError, match="tests reach no network"), socket.socket() as outward:
        outward.connect(("192.0.2.1", 443))


def test_no_name_is_resolved() -> None:
    with pytest.raises(socket.gaierror, match="tests resolve no names"):
        socket.getaddrinfo("api.openai.com", 443)


def test_no_provider_key_is_in_the_environment() -> None:
    assert not [name for name in os.environ if name.endswith("_API_KEY")]
