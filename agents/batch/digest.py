"""The digest of all that an entry's result depends on: with an equal one it is not run again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from ..llm_backends.selection import Choice
from ..records import Role, fingerprint
from ..run.run import settings_as_json
from ..settings import Settings
from .records import Entry

WITHOUT_EFFECT = frozenset(
    {"work_dir", "json", "quiet", "color", "record", "cache", "frozen", "require", "api_base"}
    | {"model", "code_writer_model", "test_writer_model", "critic_model", "healer_model"}
)
"""Settings that don't change the result; models count as they were chosen, `require` only judges the grade."""

_LATER = frozenset({"packages", "modules", "installed", "python"})
"""What specs and settings of earlier versions did not have: where it is empty, a digest is as it was."""


def digest_of(entry: Entry, settings: Settings, choices: Mapping[Role, Choice]) -> str:
    """Hash an entry's spec without its name and origin, the settings with an effect, and the models.

    A server's address counts only where it alone says which model is meant.
    """
    if entry.spec is None:
        return fingerprint(entry.error or "")
    spec = {name: value for name, value in asdict(entry.spec).items() if value or name not in _LATER}
    del spec["id"], spec["origin"]
    decisive = {
        name: value
        for name, value in settings_as_json(settings).items()
        if name not in WITHOUT_EFFECT and (value or name not in _LATER)
    }
    models = {role: choice.model_id or choice.api_base for role, choice in choices.items()}
    return fingerprint(json.dumps([spec, decisive, models], sort_keys=True))
