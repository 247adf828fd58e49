"""Empty implementations of any module: a test that passes on both of them shows nothing about the code."""

from __future__ import annotations

import types
from typing import Any


class _Answer:
    """The one value that everything in the second implementation returns; it knows no operator but identity."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "pytestmark":
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self


class _StubType(type):
    """The class of stub classes: usable as a function, a class or a base class; attributes are stubs, too."""

    _answer: Any = None
    _attributes: dict[str, Any]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._answer

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _attribute(cls, name)

    def __getitem__(cls, key: object) -> Any:
        return cls._answer

    def __iter__(cls) -> Any:
        return iter(())

    def __len__(cls) -> int:
        return 0

    def __bool__(cls) -> bool:
        return True


def _attribute(owner: Any, name: str) -> Any:
    if name not in owner._attributes:
        owner._attributes[name] = _stub(name, owner._answer)
    return owner._attributes[name]


def _stub(name: str, answer: object) -> type:
    return _StubType(name, (), {"_answer": answer, "_attributes": {}})


class StubModule(types.ModuleType):
    """`user_code` where every name is there and every call returns `answer`."""

    def __init__(self, answer: object, names: list[str]) -> None:
        super().__init__("user_code")
        self._answer = answer
        self._attributes: dict[str, Any] = {}
        self.__all__ = names

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _attribute(self, name)


def stub_modules(names: list[str]) -> tuple[StubModule, StubModule]:
    """The two implementations; `names` is what a star import gets."""
    return StubModule(None, names), StubModule(_Answer(), names)
