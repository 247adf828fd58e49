"""Which backends this machine has, for the tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import Job, Running, Sandbox, open_sandbox
from agents.sandbox.backends.native import Native
from agents.sandbox.container.sandbox import Container

from .container_image import prepare_image

BackendName = Literal[
    "bubblewrap",
    "native",
    "native without namespaces",
    "warm bubblewrap",
    "warm native",
    "container",
    "warm container",
    "a container a job",
    "none",
]
ISOLATING: tuple[BackendName, ...] = (
    "bubblewrap",
    "native",
    "native without namespaces",
    "warm bubblewrap",
    "warm native",
)
CONTAINERS: tuple[BackendName, ...] = ("container", "warm container", "a container a job")
ALL: tuple[BackendName, ...] = (*ISOLATING, "none")


def often(names: Iterable[BackendName], *everyday: BackendName) -> list[object]:
    """Parameters of a test: those that are not for every day are marked thorough."""
    return [name if name in everyday else pytest.param(name, marks=pytest.mark.thorough) for name in names]


WITH_CONTAINERS = often((*ALL, *CONTAINERS[:2]), "bubblewrap", "native without namespaces", "warm native", "none")
"""Each backend is for every day, cold or warm. A container takes most of a second to start, so the form with one a
job is left out."""


def open_or_skip(name: BackendName) -> Sandbox:
    """The backend by that name; skips the test, with the reason, where this machine does not have it."""
    try:
        return open_backend(name)
    except SandboxUnavailable as error:
        pytest.skip(f"{name}: {error}")


def open_backend(name: str) -> Sandbox:
    """The backend by that name; raises SandboxUnavailable."""
    if name == "native without namespaces":
        return Native(namespaces=False)
    if name in CONTAINERS:
        return _open_container(name)
    sandbox = open_sandbox(name.removeprefix("warm "))  # type: ignore[arg-type]
    return sandbox.warm(["pytest"]) if name.startswith("warm ") else sandbox


def _open_container(name: str) -> Sandbox:
    prepare_image()
    container = Container(namespaces=False if name == "a container a job" else None)
    if name != "warm container":
        return container
    return _Owning(container, container.warm(["pytest"]))


class _Owning(Sandbox):
    """A warm worker that has its container to itself."""

    def __init__(self, container: Container, worker: Sandbox) -> None:
        self.name = worker.name
        self.interpreter = worker.interpreter
        self._container, self._worker = container, worker

    def launch(self, job: Job) -> Running:
        return self._worker.launch(job)

    def close(self) -> None:
        self._container.close()
