"""Rendering of the prompt templates in prompts/; a missing variable is an error."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template

from ..records import Example, Message, Spec
from .kinds import kind_of
from .outline import outline

PYTHON = "3.11"
"""The version in the prompts where the spec asks for none."""


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    text = resources.files(f"{__package__}.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    return environment.from_string(text)


def render(name: str, **variables: object) -> str:
    """Return the template `name`.md with `variables`. Raises jinja2.UndefinedError when one is missing."""
    return _template(name).render(**variables).strip()


def messages(spec: Spec, task: str, **variables: object) -> tuple[Message, ...]:
    """Return the messages of a role's request. The system prompt and the spec come first, the same bytes for every
    role, since a prompt cache keeps only a common prefix; the task comes last."""
    about = render("spec", spec=spec, unsaid=unsaid(spec), outline=outline(spec.modules, spec.text))
    return (system(spec), Message("user", f"{about}\n\n{render(task, spec=spec, **variables)}"))


def system(spec: Spec) -> Message:
    """Return the system prompt: version of Python, allowed imports, and whether the code prints."""
    packages = ", ".join(f"{package.name} {package.version}" for package in spec.installed)
    own = ", ".join(module.name for module in spec.modules)
    beside = [packages, f"the user's own {own}" if own else ""]
    allowed = ", ".join(["the standard library", *filter(None, beside)])
    quiet = kind_of(spec) not in ("program", "printing")
    return Message("system", render("system", python=spec.python or PYTHON, allowed=allowed, quiet=quiet))


def unsaid(spec: Spec) -> tuple[Example, ...]:
    """Return the examples that prompts show and that the text of the spec lacks, white space aside."""
    text = " ".join(spec.text.split())
    return tuple(
        example for example in spec.examples if example.told and " ".join(example.source_line.split()) not in text
    )


def with_all_examples(spec: Spec) -> Spec:
    """Return `spec` with every example shown in prompts, also the answers that came while a run was under way."""
    return replace(spec, examples=tuple(replace(example, told=True) for example in spec.examples))
