"""Repositories of strangers: nothing that they name is run, and honest ones are read as git reads them."""

from __future__ import annotations

import hashlib
import os
import pty
import shutil
import struct
import subprocess
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from agents.audit.base import read_base
from agents.errors import UsageError
from agents.worktree.git import Repository, git_root, open_repository, uncommitted
from agents.worktree.tree import MOST_BYTES, MOST_FILES, read_tree

from ..support.commands import greenloop

CODE = "def f():\n    return 1\n"
TESTS = "from s import f\n\n\ndef test_f():\n    assert f() == 1\n"
SIGNED = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"


@pytest.fixture(autouse=True)
def no_configuration_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(folder: Path, *arguments: str, given: str | None = None) -> str:
    """Run plain git, as a careless tool would."""
    own = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *own, *arguments], cwd=folder, input=given, capture_output=True, text=True, timeout=20
    )
    return done.stdout


@dataclass
class Strange:
    """A repository `folder` whose configuration names `program`, which leaves `mark`."""

    folder: Path
    program: Path
    mark: Path

    def configure(self, **settings: str) -> None:
        for name, value in settings.items():
            git(self.folder, "config", name.replace("__", "-").replace("_", "."), value)

    def attributes(self, text: str) -> None:
        (self.folder / ".gitattributes").write_text(text)

    def write(self) -> None:
        """Change a file as an editor would, so that git compares it."""
        (self.folder / "s.py").write_text(CODE.replace("1", "2"))

    def miss(self) -> str:
        """Remove the blob of `old.py`, which plain git then fetches; return its hash."""
        blob = git(self.folder, "rev-parse", "HEAD:old.py").strip()
        (self.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        self.configure(remote_o_promisor="true", extensions_partialClone="o", core_repositoryformatversion="1")
        return blob

    def ran(self) -> bool:
        found = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return found


@pytest.fixture
def strange(tmp_path: Path) -> Strange:
    folder = tmp_path / "strange"
    folder.mkdir()
    mark = tmp_path / "it-ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n: > {mark}\n")
    program.chmod(0o755)
    for name, text in (("s.py", CODE), ("test_s.py", TESTS), ("old.py", "x = 1\n")):
        (folder / name).write_text(text)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return Strange(folder, program, mark)


def clean(repository: Strange) -> None:
    repository.attributes("*.py filter=x\n")
    repository.configure(filter_x_clean=str(repository.program))
    repository.write()
    git(repository.folder, "status")


def process(repository: Strange) -> None:
    repository.attributes("*.py filter=x\n")
    repository.configure(filter_x_process=str(repository.program))
    repository.write()
    git(repository.folder, "diff", "HEAD")


def smudge(repository: Strange) -> None:
    repository.attributes("*.py filter=x\n")
    repository.configure(filter_x_smudge=str(repository.program))
    (repository.folder / "s.py").unlink()
    git(repository.folder, "checkout", "--", "s.py")


def textconv(repository: Strange) -> None:
    repository.attributes("*.py diff=x\n")
    repository.configure(diff_x_textconv=str(repository.program))
    repository.write()
    git(repository.folder, "diff", "--no-ext-diff", "HEAD")


def external_diff(repository: Strange) -> None:
    repository.configure(diff_external=str(repository.program))
    repository.write()
    git(repository.folder, "diff", "HEAD")


def driver(repository: Strange) -> None:
    repository.attributes("*.py diff=x\n")
    repository.configure(diff_x_command=str(repository.program))
    repository.write()
    git(repository.folder, "diff", "HEAD")


def included(repository: Strange) -> None:
    (repository.folder / "more").write_text(f"[diff]\nexternal = {repository.program}\n")
    repository.configure(include_path="../more")
    repository.write()
    git(repository.folder, "diff", "HEAD")


def fsmonitor(repository: Strange) -> None:
    repository.configure(core_fsmonitor=str(repository.program))
    git(repository.folder, "status")


def hooks(repository: Strange) -> None:
    samples = Path(git(repository.folder, "--exec-path").strip()).parents[1] / "share/git-core/templates/hooks"
    names = {path.name.removesuffix(".sample") for path in samples.glob("*.sample")}
    for name in {*names, "post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc"}:
        shutil.copy(repository.program, repository.folder / ".git" / "hooks" / name)
    os.utime(repository.folder / "s.py", (1, 1))
    git(repository.folder, "status")


def hooks_elsewhere(repository: Strange) -> None:
    (repository.folder / "h").mkdir()
    shutil.copy(repository.program, repository.folder / "h" / "post-index-change")
    repository.configure(core_hooksPath="h")
    os.utime(repository.folder / "s.py", (1, 1))
    git(repository.folder, "status")


def lazy_fetch(repository: Strange) -> None:
    repository.configure(remote_o_url=f"ext::{repository.program}", protocol_ext_allow="always")
    git(repository.folder, "cat-file", "-p", repository.miss())


def upload_pack(repository: Strange) -> None:
    repository.configure(remote_o_url=str(repository.folder), remote_o_uploadpack=str(repository.program))
    git(repository.folder, "cat-file", "-p", repository.miss())


def ssh_command(repository: Strange) -> None:
    repository.configure(remote_o_url="ssh://localhost/x", core_sshCommand=str(repository.program))
    git(repository.folder, "cat-file", "-p", repository.miss())


def credential_helper(repository: Strange) -> None:
    repository.configure(credential_helper=str(repository.program))
    git(repository.folder, "credential", "fill", given="protocol=https\nhost=localhost\n\n")


def alias(repository: Strange) -> None:
    repository.configure(**{f"alias_{name}": f"!{repository.program}" for name in ("evil", "ls__files")})
    git(repository.folder, "evil")


def pager(repository: Strange) -> None:
    repository.configure(core_pager=str(repository.program))
    ours, theirs = pty.openpty()
    subprocess.run(["git", "log"], cwd=repository.folder, stdout=theirs, timeout=20)
    os.close(theirs)
    os.close(ours)


def signature(repository: Strange) -> None:
    repository.configure(gpg_program=str(repository.program), log_showSignature="true")
    head = git(repository.folder, "cat-file", "commit", "HEAD").replace("\n\n", f"\n{SIGNED}\n", 1)
    signed = git(repository.folder, "hash-object", "-t", "commit", "-w", "--stdin", given=head).strip()
    git(repository.folder, "update-ref", "HEAD", signed)
    git(repository.folder, "log")


def bare_inside(repository: Strange) -> None:
    """A repository among the files of another, as a clone brings it along."""
    lib = repository.folder / "lib"
    git(repository.folder, "init", "--quiet", "--bare", "lib")
    git(repository.folder, "--git-dir=lib", "--work-tree=.", "add", "s.py")
    version = "[core]\nrepositoryformatversion = 0\n"  # without it there is no work tree
    (lib / "config").write_text(f"{version}bare = false\nworktree = ..\nfsmonitor = {repository.program}\n")
    (lib / "s.py").write_text(CODE)
    git(lib, "status")


def other_work_tree(repository: Strange) -> None:
    repository.configure(core_worktree="..", core_fsmonitor=str(repository.program))
    git(repository.folder, "status")


ATTACKS = (
    *(clean, process, smudge, textconv, external_diff, driver, included, fsmonitor, hooks, hooks_elsewhere),
    *(lazy_fetch, upload_pack, ssh_command, credential_helper, alias, pager, signature, bare_inside),
    other_work_tree,
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_a_program_that_a_repository_names_is_not_run(strange: Strange, attack: Callable[[Strange], None]) -> None:
    attack(strange)
    assert strange.ran(), "plain git does not run it, so this shows nothing"
    for folder in (strange.folder, strange.folder / "lib"):
        if folder.is_dir():
            os.utime(folder / "s.py", (2, 2))
            assert git_root(folder) == strange.folder
            tree = read_tree(folder, ["s.py"], {})
            read_base(tree, "HEAD")
            uncommitted(folder / "s.py")
    assert not strange.ran()
    with open_repository(strange.folder) as repository:
        assert repository.commit("HEAD")
        blobs = repository.files(repository.commit("HEAD") or "")
        if attack in (lazy_fetch, upload_pack, ssh_command):
            with pytest.raises(UsageError, match="lacks objects"):
                repository.blobs(blobs.values())
        else:
            assert repository.blobs(blobs.values())[blobs["s.py"]] == CODE.encode()
    assert not strange.ran()


@pytest.mark.thorough
def test_no_command_runs_what_a_repository_names(strange: Strange) -> None:
    """All of it at once, in the commands that look at a repository."""
    for attack in (bare_inside, clean, textconv, external_diff, hooks, fsmonitor, alias, included, ssh_command):
        attack(strange)
    assert strange.ran()
    (strange.folder / "lib" / "test_s.py").write_text(TESTS)
    done = greenloop(strange.folder, "audit", "lib", "--base", "HEAD", "--seconds", "30")
    assert "test_s.py" in done.stdout + done.stderr or done.returncode in (0, 1), done.stderr
    for path in ("s.py", "lib/s.py"):
        done = greenloop(strange.folder, "heal", path, "--expect", "1", "--apply", "--model", "recorded:none")
        assert "not committed" in done.stderr, done.stderr
    assert not strange.ran()


def test_a_committed_link_is_the_file_that_it_leads_to(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    (folder / "lib").mkdir(parents=True)
    (folder / "s.py").write_text(CODE)
    links = {"one.py": "lib/two.py", "lib/two.py": "../s.py", "out.py": "/etc/passwd", "up.py": "../x.py"}
    for path, target in {**links, "round.py": "round.py", "folder": "lib", "gone.py": "none.py"}.items():
        (folder / path).symlink_to(target)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "links")
    tree = read_tree(folder, ["s.py"], {})
    base = read_base(tree, "HEAD")
    assert base.differing == ()
    assert {*base.tree.files} == {*tree.files} == {"s.py", "one.py", "lib/two.py"}
    assert {*base.tree.files.values()} == {CODE.encode()}


def test_a_new_file_that_git_ignores_and_tracks_differs(tmp_path: Path) -> None:
    """Taken as it is now on both sides, hooks that are committed by force could make any test pass."""
    folder = tmp_path / "own"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg/__init__.py").write_text(f"{CODE}from .made import *\n")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "one")
    (folder / ".gitignore").write_text("conftest.py\nmade.py\n")
    for name in ("conftest.py", "pkg/made.py"):
        (folder / name).write_text(CODE)
    git(folder, "add", "--force", "conftest.py", ".gitignore")
    for reference in ("HEAD", "HEAD~1"):
        base = read_base(read_tree(folder, [], {}), reference)
        assert base.differing == (".gitignore", "conftest.py")
        assert "pkg/made.py" in base.tree.files
        git(folder, "commit", "--quiet", "--message", "two")


def test_git_is_no_program_of_the_folder(strange: Strange, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(strange.program, strange.folder / "git")
    monkeypatch.chdir(strange.folder)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    subprocess.run(["git", "status"], capture_output=True, check=True)
    assert strange.ran()
    read_base(read_tree(Path(), [], {}), "HEAD")
    assert not uncommitted(Path("s.py"))
    assert not strange.ran()


def test_variables_of_git_do_not_count(strange: Strange, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {
        "GIT_DIR": "/nowhere",
        "GIT_INDEX_FILE": "/nowhere",
        "GIT_EXTERNAL_DIFF": str(strange.program),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(strange.program),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert not uncommitted(strange.folder / "s.py")
    assert set(read_tree(strange.folder, [], {}).files) == {"s.py", "test_s.py", "old.py"}
    assert not strange.ran()


@pytest.mark.parametrize("entry", ["objects/info/alternates", "link", "fifo", "packs"])
def test_objects_of_another_repository_are_not_read(strange: Strange, tmp_path: Path, entry: str) -> None:
    private = tmp_path / "private"
    git(tmp_path, "clone", "--quiet", str(strange.folder), "private")
    git(private, "commit", "--quiet", "--allow-empty", "-m", "secret")
    secret = git(private, "rev-parse", "HEAD").strip()
    objects = strange.folder / ".git" / "objects"
    if entry == "link":
        shutil.rmtree(objects)
        objects.symlink_to(private / ".git" / "objects")
    elif entry == "fifo":
        os.mkfifo(objects / "pack" / "pack-1.idx")
    elif entry == "packs":
        (objects / secret[:2]).mkdir(exist_ok=True)
        (objects / secret[:2] / secret[2:]).symlink_to(private / ".git/objects" / secret[:2] / secret[2:])
    else:
        (objects / "info" / "alternates").write_text(f"{private / '.git' / 'objects'}\n")
    if entry != "fifo":
        assert git(strange.folder, "cat-file", "-t", secret) == "commit\n"  # what git itself reads
    with open_repository(strange.folder) as repository, pytest.raises(UsageError):
        repository.commit(secret)
    with pytest.raises(UsageError):
        uncommitted(strange.folder / "s.py")


def test_an_object_that_grows_beyond_bounds_is_not_read(strange: Strange) -> None:
    """Some thousand bytes of a pack are a blob of 3 GiB; git itself would take as much memory."""
    piece, times = bytes(0xFFFFFF), 192
    base, size = hashlib.sha1(b"blob %d\0" % len(piece) + piece).digest(), times * len(piece)
    delta = _number(len(piece)) + _number(size) + b"\xf0\xff\xff\xff" * times
    entries = [
        _head(3, len(piece)) + zlib.compress(piece),
        _head(7, len(delta)) + base + zlib.compress(delta),
    ]
    pack = b"PACK" + struct.pack(">2I", 2, 2) + b"".join(entries)
    pack += hashlib.sha1(pack).digest()
    whole = hashlib.sha1(b"blob %d\0" % size)
    for _ in range(times):
        whole.update(piece)
    places = {base: 12, whole.digest(): 12 + len(entries[0])}
    names = sorted(places)
    index = b"\xfftOc" + struct.pack(">I", 2)
    index += b"".join(struct.pack(">I", sum(name[0] <= first for name in names)) for first in range(256))
    index += b"".join(names) + bytes(8) + b"".join(struct.pack(">I", places[name]) for name in names)
    index += pack[-20:]
    folder = strange.folder / ".git" / "objects" / "pack"
    (folder / "pack-1.pack").write_bytes(pack)
    (folder / "pack-1.idx").write_bytes(index + hashlib.sha1(index).digest())
    with open_repository(strange.folder) as repository:
        assert repository.blobs([base.hex()]) == {base.hex(): piece}
        with pytest.raises(UsageError, match="over limit"):
            repository.blobs([whole.hexdigest()])


def _number(value: int) -> bytes:
    """A size in a delta."""
    return bytes([value & 127 | 128]) + _number(value >> 7) if value > 127 else bytes([value])


def _head(kind: int, size: int) -> bytes:
    """The beginning of an object in a pack."""
    return bytes([kind << 4 | size & 15 | 128]) + _number(size >> 4)


@pytest.mark.parametrize("place", ["link", "file", "work tree", "fifo"])
def test_a_folder_is_in_no_repository_that_lies_elsewhere(strange: Strange, tmp_path: Path, place: str) -> None:
    """The entry `.git` leads to a repository that is not this folder's."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "s.py").write_text(CODE)
    if place == "link":
        (folder / ".git").symlink_to(strange.folder / ".git")
    elif place == "work tree":
        git(strange.folder, "worktree", "add", "--quiet", str(tmp_path / "linked"))
        shutil.copy(tmp_path / "linked" / ".git", folder / ".git")
    elif place == "file":
        (folder / ".git").write_text(f"gitdir: {strange.folder / '.git'}\n")
    else:
        os.mkfifo(folder / ".git")
    if place != "fifo":
        assert git(folder, "rev-parse", "HEAD")  # what git itself reads
    for asked in (git_root, lambda folder: uncommitted(folder / "s.py")):
        with pytest.raises(UsageError):
            asked(folder)
    assert set(read_tree(folder, [], {}).files) == {"s.py"}


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to another user")
def test_a_repository_above_that_is_another_users_is_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    os.chown(tmp_path / ".git", 65534, 65534)
    mine = tmp_path / "mine"
    mine.mkdir()
    assert "dubious ownership" in subprocess.run(
        ["git", "status"], cwd=mine, capture_output=True, text=True, env={"PATH": os.environ["PATH"]}
    ).stderr  # fmt: skip
    assert git_root(mine) is None
    os.chown(mine, 65534, 65534)  # all of it is that user's, as in a container of CI
    assert git_root(mine) == tmp_path


@pytest.mark.parametrize("name", ["HEAD", "refs/heads/main", "packed-refs", "index"])
@pytest.mark.parametrize("kind", ["fifo", "link"])
def test_files_of_a_repository_that_are_no_files_are_refused(
    strange: Strange, tmp_path: Path, name: str, kind: str
) -> None:
    path = strange.folder / ".git" / name
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    else:
        (tmp_path / "secret").write_text("0" * 40)
        path.symlink_to(tmp_path / "secret")
    asked: dict[str, Callable[[Repository], object]] = {
        "HEAD": lambda repository: repository.commit("HEAD"),
        "refs/heads/main": lambda repository: repository.commit("main"),
        "packed-refs": lambda repository: repository.commit("other"),
        "index": lambda repository: repository.index,
    }
    refused = pytest.raises(UsageError, match=r"no regular file|link out")
    with open_repository(strange.folder) as repository, refused:
        asked[name](repository)


def _shared_indexes(folder: Path) -> None:
    for number in range(24):
        with (folder / ".git" / f"sharedindex.{number:040x}").open("wb") as file:
            file.truncate(64 << 30)


def _patterns(folder: Path) -> None:
    (folder / ".gitignore").write_text("".join(f"*a*b*c*{number}\n" for number in range(60_000)))
    (below := folder / "/".join(["a" * 80] * 25)).mkdir(parents=True)
    for each in (below, *below.parents[:24]):
        (each / f"{'a' * 100}.py").write_text("")


@pytest.mark.thorough
@pytest.mark.parametrize("made", [_shared_indexes, _patterns])
def test_what_is_large_in_a_repository_costs_little(strange: Strange, made: Callable[[Path], None]) -> None:
    made(strange.folder)
    began = time.monotonic()
    assert "s.py" in read_tree(strange.folder, [], {}).files
    assert time.monotonic() - began < 45


def test_folders_of_which_git_can_not_be_told_are_read_without_it(strange: Strange) -> None:
    descriptor = os.open(strange.folder, os.O_RDONLY)
    left = 4090 - len(str(strange.folder.resolve()))  # the system's limit, but for a name in the last folder
    while left:
        name = "x" * (left - 1 if left < 200 else 100)
        os.mkdir(name, dir_fd=descriptor)
        left -= len(name) + 1
        above, descriptor = descriptor, os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(above)
    os.close(descriptor)
    assert "s.py" in read_tree(strange.folder, [], {}).files


@pytest.mark.parametrize(
    "reference",
    ["-h", "--output=x", "../../../etc/passwd", "config", "refs/../HEAD", "a\0b", "", "main:s.py", "@{1}"],
)
def test_a_reference_that_names_no_commit_is_none(strange: Strange, reference: str) -> None:
    with open_repository(strange.folder) as repository:
        assert repository.commit(reference) is None


@pytest.mark.parametrize("reference", ["refs/tags/old", "refs/old", "refs/remotes/old"])
def test_a_name_of_two_commits_is_refused(strange: Strange, reference: str) -> None:
    """git takes the first that it finds: a tag of a branch's name hides what a change is compared with."""
    git(strange.folder, "branch", "old")
    git(strange.folder, "commit", "--quiet", "--allow-empty", "-m", "second")
    git(strange.folder, "update-ref", reference, "HEAD")
    taken = git(strange.folder, "rev-parse", "old", "HEAD").split()
    assert (len({*taken}) == 1) is (reference != "refs/remotes/old")
    with open_repository(strange.folder) as repository:
        with pytest.raises(UsageError, match=rf"^old names several commits; name one of .*{reference}.*\.$"):
            repository.commit("old")
        assert repository.commit(reference) == repository.commit("HEAD") != repository.commit("refs/heads/old")


def test_references_are_found_as_git_finds_them(strange: Strange) -> None:
    git(strange.folder, "commit", "--quiet", "--allow-empty", "-m", "second")
    git(strange.folder, "tag", "v1", "HEAD~1")
    git(strange.folder, "tag", "-a", "-m", "x", "v2")
    git(strange.folder, "update-ref", "refs/remotes/origin/dev", "HEAD~1")
    git(strange.folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/dev")
    git(strange.folder, "update-ref", "ORIG_HEAD", "HEAD~1")
    git(strange.folder, "branch", "feature/x")
    for packed in (False, True):
        if packed:
            git(strange.folder, "pack-refs", "--all")
        for name in (
            *("HEAD", "main", "feature/x", "HEAD~1", "HEAD^", "v1", "v2", "v2~1", "v2^{}", "origin", "origin/dev"),
            *("refs/tags/v1", "heads/main", "ORIG_HEAD", git(strange.folder, "rev-parse", "HEAD")[:8], "@", "@~1"),
        ):
            with open_repository(strange.folder) as repository:
                told = git(strange.folder, "rev-parse", "--verify", f"{name}^{{commit}}").strip()
                assert repository.commit(name) == told != "", name


# --- honest repositories -----------------------------------------------------------------------------------


def plain(folder: Path) -> Path:
    return folder


def worktree(folder: Path) -> Path:
    git(folder, "worktree", "add", "--quiet", str(folder.parent / "linked"))
    return folder.parent / "linked"


def submodule(folder: Path) -> Path:
    git(folder.parent, "init", "--quiet", "outer")
    outer = folder.parent / "outer"
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(folder), "in/sub")
    return outer / "in" / "sub"


def packed(folder: Path) -> Path:
    git(folder, "gc", "--quiet", "--prune=now")
    assert not (folder / ".git/refs/heads/main").exists()
    return folder


def shallow(folder: Path) -> Path:
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "second")
    git(folder.parent, "clone", "--quiet", "--depth", "1", folder.as_uri(), "shallow")
    return folder.parent / "shallow"


def split_index(folder: Path) -> Path:
    git(folder, "update-index", "--split-index", "--untracked-cache")
    assert list((folder / ".git").glob("sharedindex.*"))
    return folder


def sha256(folder: Path) -> Path:
    other = folder.parent / "sha256"
    git(folder.parent, "init", "--quiet", "--object-format=sha256", "sha256")
    for path in folder.glob("*.py"):
        shutil.copy(path, other)
    git(other, "add", ".")
    git(other, "commit", "--quiet", "-m", "first")
    return other


def carriage_returns(folder: Path) -> Path:
    git(folder.parent, "clone", "--quiet", "-c", "core.autocrlf=true", str(folder), "windows")
    assert b"\r\n" in (folder.parent / "windows" / "s.py").read_bytes()
    return folder.parent / "windows"


def filtered(folder: Path) -> Path:
    """Files in the repository are pointers, as Git LFS has them."""
    git(folder, "config", "filter.x.clean", "sed s/return/pointer/")
    git(folder, "config", "filter.x.smudge", "sed s/pointer/return/")
    (folder / ".gitattributes").write_text("s.py filter=x\n")
    os.utime(folder / "s.py", (1, 1))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "filtered")
    assert "pointer" in git(folder, "show", "HEAD:s.py")
    return folder


@pytest.mark.parametrize(
    "made",
    [plain, worktree, submodule, packed, shallow, split_index, sha256, carriage_returns, filtered],
    ids=lambda made: made.__name__,
)
def test_an_honest_repository_is_read_as_git_reads_it(strange: Strange, made: Callable[[Path], Path]) -> None:
    folder = made(strange.folder)
    assert git_root(folder) == folder
    (folder / ".gitignore").write_text("*.log\n/build/\n!kept.log\n")
    git(folder, "add", ".gitignore")
    git(folder, "commit", "--quiet", "-m", "ignore")
    base = read_base(read_tree(folder, [], {}), "HEAD")
    assert (base.differing, base.lines) == ((), {})
    assert not uncommitted(folder / "s.py")
    made_now = ("build/x.py", "a.log", "kept.log", "p/new.py", "p/.gitignore", "p/q/out", "p/q/in.txt", ":x/:y.py")
    for path in (*made_now, "build.py", "é.py", "-n.py"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("out\n" if path.endswith("ignore") else "y = 1\n")
    exclude = Path(folder, git(folder, "rev-parse", "--git-path", "info/exclude").strip())
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("in.txt\n")
    with (folder / "s.py").open("ab") as file:
        file.write(b"\n\nz = 1\n")
    (folder / "old.py").unlink()
    (folder / "test_s.py").write_text(TESTS.replace("== 1", "== 2"))
    tree = read_tree(folder, [], {})
    listed = git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    assert set(tree.files) == {path for path in listed if path and (folder / path).is_file()}
    assert {path for path in tree.files if "build" in path or path.startswith("p/q")} == {"build.py"}
    for name in ("s.py", "test_s.py", "p/new.py", "a.log", "build/x.py", ".gitignore"):
        assert uncommitted(folder / name) == bool(git(folder, "status", "--porcelain", "--", name)), name
    base = read_base(tree, "HEAD")
    assert {path for path in base.differing if "test" in path} == {"test_s.py"}
    assert base.tree.files["test_s.py"].replace(b"\r\n", b"\n") == TESTS.encode()
    assert set(base.tree.files) - set(tree.files) == {"old.py"}
    assert base.lines["p/new.py"] == {1}
    new = {1, 2, 3, 4, 5} if made is filtered else {3, 4, 5}
    assert {5} <= base.lines["s.py"] <= new
    inner = read_base(read_tree(folder / "p", [], {}), "HEAD")
    assert set(inner.lines) == {"new.py"}


@pytest.mark.parametrize("place", [".gitignore", "p/.gitignore", ".git/info/exclude"])
def test_what_the_base_does_not_ignore_is_new_though_it_is_ignored_now(strange: Strange, place: str) -> None:
    folder = plain(strange.folder)
    for name in ("p/__init__.py", "p/.gitignore"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("made.py\n" if name.endswith("ignore") else "")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "package")
    for name in ("p/made.py", "p/tables.py"):
        (folder / name).write_text("y = 1\n")
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).write_text("made.py\ntables.py\n")
    base = read_base(read_tree(folder, [], {}), "HEAD")
    assert {path for path in base.differing if path.endswith(".py")} == {"p/tables.py"}
    assert "p/made.py" in base.tree.files


@pytest.mark.parametrize("attributes", ["", ".gitattributes", ".git/info/attributes"])
def test_a_changed_file_with_the_size_and_time_of_the_old_one_differs(strange: Strange, attributes: str) -> None:
    folder = strange.folder
    os.utime(folder / "s.py", (1, 1))
    git(folder, "add", ".")
    before = (folder / "s.py").stat()
    strange.write()
    os.utime(folder / "s.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    if attributes:  # of now, which say that it was made by a filter; also in the index, and the old text is added
        (folder / ".git" / "info").mkdir(exist_ok=True)
        (folder / attributes).write_text("s.py filter=x\n")
        git(folder, "config", "filter.x.clean", "git cat-file blob HEAD:s.py")
        git(folder, "add", ".")
        assert not git(folder, "status", "--porcelain", "s.py")
    assert (folder / "s.py").stat().st_size == before.st_size
    base = read_base(read_tree(folder, [], {}), "HEAD")
    assert base.lines["s.py"] == {2}
    assert base.tree.files["s.py"] == CODE.encode()
    assert uncommitted(folder / "s.py")


@pytest.mark.parametrize("now", ["a link to nothing", "a link out", "a pipe", "a folder elsewhere"])
def test_a_test_that_is_no_file_here_any_more_counts_as_gone(strange: Strange, tmp_path: Path, now: str) -> None:
    """It was left out of both sides, as what has no room is, so that nothing differed."""
    folder = strange.folder
    (folder / "tests").mkdir()
    (folder / "tests" / "test_s.py").write_text(TESTS)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "tests")
    elsewhere = tmp_path / "elsewhere"
    shutil.move(folder / "tests", elsewhere)
    if now == "a folder elsewhere":
        (folder / "tests").symlink_to(elsewhere)
    else:
        (folder / "tests").mkdir()
        target = {"a link to nothing": Path("/dev/null"), "a link out": elsewhere / "test_s.py"}.get(now)
        place = folder / "tests" / "test_s.py"
        place.symlink_to(target) if target else os.mkfifo(place)
    base = read_base(read_tree(folder, [], {}), "HEAD")
    assert base.differing == ("tests/test_s.py",)
    assert base.tree.files["tests/test_s.py"] == TESTS.encode()


def test_data_takes_no_room_from_code_and_a_test_without_room_is_refused(
    strange: Strange,
) -> None:
    folder = strange.folder
    (folder / "deep").mkdir()
    (folder / "deep" / "test_s.py").write_text(TESTS)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "tests")
    (folder / "0.bin").write_bytes(bytes(MOST_BYTES - 10))
    tree = read_tree(folder, [], {})
    assert "deep/test_s.py" in tree.files
    assert tree.left_out == {"0.bin"}
    for number in range(MOST_FILES):
        (folder / f"{number}.py").touch()
    with pytest.raises(UsageError, match=r"deep/test_s.py does not fit: .* has less"):
        read_base(read_tree(folder, [], {}), "HEAD")


@pytest.mark.parametrize("path", ["s.py", "s/__init__.py", "tests/expected.json", "pyproject.toml"])
def test_a_changed_file_without_room_is_refused(strange: Strange, path: str) -> None:
    """It was on neither side, so that nothing differed, and the gate passed."""
    place = strange.folder / path
    place.parent.mkdir(exist_ok=True)
    with place.open("ab") as file:
        file.write(b"\n#" * (MOST_BYTES // 2 + 1))
    tree = read_tree(strange.folder, [], {})
    assert path in tree.left_out
    with pytest.raises(UsageError, match=f"{path} does not fit"):
        read_base(tree, "HEAD")
    git(strange.folder, "add", ".")
    git(strange.folder, "commit", "--quiet", "-m", "large")
    assert read_base(tree, "HEAD").differing == ()
    (strange.folder / ".gitignore").write_text("made.py\n")
    place.rename(strange.folder / "made.py")
    git(strange.folder, "rm", "--quiet", "--cached", path)
    read_base(read_tree(strange.folder, [], {}), "HEAD")


def test_a_package_that_a_link_to_a_folder_makes_differs(strange: Strange) -> None:
    """It stands in the place of a module: it was on neither side, and the tests ran with the module."""
    (strange.folder / "other").mkdir()
    (strange.folder / "other" / "__init__.py").write_text(CODE)
    (strange.folder / "o").symlink_to("other")
    git(strange.folder, "add", ".")
    git(strange.folder, "commit", "--quiet", "-m", "other")
    (strange.folder / "s").symlink_to("other")
    for number in (1, 2):
        (strange.folder / "other" / "__init__.py").write_text(CODE.replace("1", str(number)))
        base = read_base(read_tree(strange.folder, [], {}), "HEAD")
        changed = ("o/__init__.py", "other/__init__.py") if number == 2 else ()
        assert base.differing == (*changed, "s/__init__.py")
        assert base.tree.files["o/__init__.py"] == CODE.encode()


def test_code_that_no_copy_has_differs_where_it_is_new_or_changed(strange: Strange) -> None:
    """Python imports it, and nothing differed: a `.pyc` can say that its source is not to be looked at."""
    for path in ("node_modules/a.py", "node_modules/b.js", "__pycache__/s.cpython-311.pyc", "work_dir/c.so"):
        (strange.folder / path).parent.mkdir(exist_ok=True)
        (strange.folder / path).write_text("x = 1\n")
    assert read_base(read_tree(strange.folder, [], {}), "HEAD").differing == ()
    git(strange.folder, "add", "--force", ".")
    new = ("__pycache__/s.cpython-311.pyc", "node_modules/a.py", "work_dir/c.so")
    base = read_base(read_tree(strange.folder, [], {}), "HEAD")
    assert (base.differing, base.lines) == (new, {})
    git(strange.folder, "commit", "--quiet", "-m", "more")
    assert read_base(read_tree(strange.folder, [], {}), "HEAD").differing == ()
    (strange.folder / "node_modules" / "a.py").write_text("x = 2\n")
    (strange.folder / "work_dir" / "c.so").unlink()
    assert read_base(read_tree(strange.folder, [], {}), "HEAD").differing == ("node_modules/a.py",)


def test_a_folder_that_is_ignored_is_read_whole(strange: Strange) -> None:
    (strange.folder / ".gitignore").write_text("scratch/\n")
    (strange.folder / "scratch").mkdir()
    (strange.folder / "scratch" / "a.py").write_text(CODE)
    assert set(read_tree(strange.folder / "scratch", [], {}).files) == {"a.py"}
    assert not uncommitted(strange.folder / "scratch" / "a.py")


def test_before_the_first_commit_and_in_a_merge_files_are_not_committed(strange: Strange, tmp_path: Path) -> None:
    new = tmp_path / "new"
    git(tmp_path, "init", "--quiet", "new")
    (new / "s.py").write_text(CODE)
    assert uncommitted(new / "s.py")
    git(new, "add", ".")
    assert uncommitted(new / "s.py")
    with open_repository(new) as repository:
        assert repository.commit("HEAD") is None
    assert set(read_tree(new, [], {}).files) == {"s.py"}
    git(strange.folder, "checkout", "--quiet", "-b", "other")
    for branch, number in (("other", "3"), ("main", "4")):
        git(strange.folder, "checkout", "--quiet", branch)
        (strange.folder / "s.py").write_text(CODE.replace("1", number))
        git(strange.folder, "commit", "--quiet", "-am", branch)
    git(strange.folder, "merge", "other")
    assert (strange.folder / ".git" / "MERGE_HEAD").exists()
    assert uncommitted(strange.folder / "s.py")
    assert not uncommitted(strange.folder / "test_s.py")
    assert "s.py" in read_tree(strange.folder, [], {}).files


def index_of(*paths: str) -> bytes:
    """An index, version 2 of git's format, of empty files."""
    written = b"DIRC" + struct.pack(">II", 2, len(paths))
    for path in sorted(map(str.encode, paths)):
        blob = bytes.fromhex("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
        entry = struct.pack(">10I20sH", 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0, blob, len(path)) + path
        written += entry + b"\0" * (8 - len(entry) % 8)
    return written + hashlib.sha1(written).digest()


def test_an_index_that_names_what_lies_outside_leads_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    (folder / "lib").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.json").write_text("{}")
    git(folder, "init", "--quiet")
    outside = ("../other/__init__.py", "lib/../../other/__init__.py", "/etc/passwd")
    (folder / ".git" / "index").write_bytes(index_of("lib/__init__.py", *outside))
    assert "../other/__init__.py" in git(folder, "ls-files", "--cached", "--full-name"), "git refuses it itself"
    with open_repository(folder) as repository:
        assert {*repository.index} == {"lib/__init__.py"}
    tree = read_tree(folder, [], {})
    assert not [path for path in (*tree.files, *tree.left_out) if "other" in path or "etc" in path]
