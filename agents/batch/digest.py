"""The digest of all that an entry's result depends on: with an equal one it is not run again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from ..llm_backends.selection import Choice
from ..records import Role, fingerprint
from ..run.resources import HEAL_ROLES
from ..run.role_models import ROLES
from ..run.run import settings_as_json
from ..settings import Settings, Use, uses
from .heals import heal_content
from .records import Entry


def digest_of(entry: Entry, settings: Settings, choices: Mapping[Role, Choice]) -> str:
    """Hash an entry as `own-work-models`: its spec without name and origin, or its heal with the files that this
    names; that with the settings with an effect; the models.

    A server's address counts only where it alone says which model is meant.
    """
    if entry.spec is not None:
        work: object = {**asdict(entry.spec), "id": "", "origin": ""}
    elif entry.heal is not None:
        work = heal_content(entry.heal)
    else:
        return fingerprint(entry.error or "")
    stated = settings_as_json(settings).items()
    decisive = {name: value for name, value in stated if Use.DIGEST in uses()[name]}
    roles = ROLES if entry.spec is not None else HEAL_ROLES
    models = {role: choice.model_id or choice.api_base for role, choice in choices.items() if role in roles}
    parts = (work, [work, decisive], models)
    return "-".join(fingerprint(json.dumps(part, sort_keys=True)) for part in parts)
