from __future__ import annotations

from pathlib import Path

import pytest

from agents.sandbox.host.limits import spare_uid


@pytest.mark.parametrize(
    ("uid_map", "lowest", "highest"),
    [
        ("0 0 4294967295\n", 0x70000000, 0x7FFFFFFF),
        ("0 100000 65536\n", 60000, 65533),
        ("0 1000 1\n1 100000 65535\n", 60000, 65533),
        ("0 100000 2000\n", 1, 1999),
    ],
)
def test_the_id_is_mapped_and_nobody_has_it(tmp_path: Path, uid_map: str, lowest: int, highest: int) -> None:
    path = tmp_path / "uid_map"
    path.write_text(uid_map)
    for _ in range(50):
        assert lowest <= spare_uid(path) <= highest


def test_two_jobs_get_two_ids(tmp_path: Path) -> None:
    path = tmp_path / "uid_map"
    path.write_text("0 0 4294967295\n")
    assert spare_uid(path) != spare_uid(path)
