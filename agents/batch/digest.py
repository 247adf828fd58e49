"""The digest of all that an entry's result depends on: with an equal one it is not run again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from ..llm_backends.selection import Choice
from ..records import Role, Spec, fingerprint
from ..run.resources import HEAL_ROLES
from ..run.role_models import ROLES
from ..run.run import settings_as_json
from ..settings import Settings, Use, uses
from .heals import heal_content
from .records import Entry

_LATER = frozenset({"packages", "modules", "installed", "python"})
"""What specs and settings of earlier versions did not have: where it is empty, a digest is as it was."""


def digest_of(entry: Entry, settings: Settings, choices: Mapping[Role, Choice]) -> str:
    """Hash an entry's spec without its name and origin, or its heal with the files that this names, the settings
    with an effect, and the models.

    A server's address counts only where it alone says which model is meant.
    """
    if entry.spec is not None:
        work: object = _content(entry.spec)
    elif entry.heal is not None:
        work = heal_content(entry.heal)
    else:
        return fingerprint(entry.error or "")
    decisive = {
        name: value
        for name, value in settings_as_json(settings).items()
        if Use.DIGEST in uses()[name] and (value or name not in _LATER)
    }
    roles = ROLES if entry.spec is not None else HEAL_ROLES
    models = {role: choice.model_id or choice.api_base for role, choice in choices.items() if role in roles}
    return fingerprint(json.dumps([work, decisive, models], sort_keys=True))


def _content(spec: Spec) -> dict[str, object]:
    content = {name: value for name, value in asdict(spec).items() if value or name not in _LATER}
    del content["id"], content["origin"]
    return content
