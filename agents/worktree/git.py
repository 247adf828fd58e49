"""Reads a git repository without running anything from it (docs/decisions/030).

git runs in a directory of our own, with our configuration, no hooks, and a work tree that has only copies of
`.gitignore`. It reads the repository's objects and a copy of its index; files are compared here.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import UsageError
from ..files import absolute_path, contained, find_program, read_regular
from .links import MOST_LINKS, behind_links
from .places import MOST_TEXT, find_repository

_SECONDS = 30
"""Timeout of all commands together, since a repository may make each of many slow."""
_MOST_OUTPUT = 256 << 20
_MOST_MEMORY = 512 << 20
"""Limit of one allocation by git: a small object may declare any size."""
_MOST_REFERENCES = 64 << 20
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REFERENCE = re.compile(r"[A-Z_]+|refs(/(?!\.)[^/\x00-\x20~^:?*\[\\\x7f]+)+")
_PLACES = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
"""Where git looks for the reference of a short name."""
_FILE = re.compile(rb"(\d+) blob ([0-9a-f]+)\t([^\0]+)\0")
_CONVERTING = ("filter", "ident", "working-tree-encoding")
"""Attributes of files whose bytes in the work tree differ from their blob's, beyond line ends."""
_NOT_CONVERTING = (b"unspecified", b"unset")
_INVALID = {b"", b".", b".."}
"""Parts of a path that git itself never writes."""
_ENTRY = re.compile(
    rb"\d+ ([0-9a-f]+) (\d)\t([^\0]+)\0(?:  ctime.*\n  mtime: (\d+):(\d+)\n  dev.*\n  uid.*\n  size: (\d+).*\n)?"
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file in the index: its blob (empty in a conflict), and its mtime and size at checkout."""

    blob: str
    seconds: int
    nanoseconds: int
    size: int


def git_root(folder: Path) -> Path | None:
    """Return the work tree of `folder`; None without one or git. Raises UsageError if `.git` names another's."""
    found = find_repository(folder.resolve())
    return found[0] if found and find_program("git") else None


@contextmanager
def open_repository(folder: Path) -> Iterator[Repository]:
    """Open the repository that `folder` is in. Raises UsageError."""
    found, git = find_repository(folder.resolve()), find_program("git")
    if found is None or git is None:
        raise UsageError(f"{folder} is in no git repository, or git is not installed.")
    with tempfile.TemporaryDirectory(prefix="greenloop-git-") as own:
        yield Repository(folder.resolve(), *found, Path(own), Path(git))


def uncommitted(path: Path) -> bool:
    """Return True if `path` differs from the last commit or was never committed; False for ignored files and
    without a repository. Raises UsageError if git fails."""
    if git_root(path.parent) is None:
        return False
    with open_repository(path.parent) as repository:
        entry = repository.index.get(path.name)
        if entry is None:
            return path.name not in repository.ignored([path.name])
        head = repository.reference("HEAD") or ""
        committed = repository.files(head, path.name).get(path.name) if head else None
        data = read_regular(path)
        return committed != entry.blob or not repository.is_unchanged(path.name, entry.blob, data, head)


class Repository:
    """The repository of the work tree `top`. Paths are relative to `folder` in it (a real path), with `/`.

    `directory` is its git directory, `common` the one that it shares with other work trees.
    """

    def __init__(self, folder: Path, top: Path, directory: Path, common: Path, own: Path, program: Path) -> None:
        self.top = top
        self.folder = folder
        self._below = "" if folder == top else f"{folder.relative_to(top).as_posix()}/"
        self._directory = directory
        self._common = common
        self._program = program
        self._tree = own / "tree"
        self._git = own / "git"
        self._seen: set[str] = set()
        self._by_filter: dict[str, Set[str]] = {}
        self._spent = 0.0
        for each in (self._tree, *(self._git / name for name in ("info", "objects", "refs"))):
            each.mkdir(parents=True)
        self._sha256 = bool(re.search(r'(?i)objectformat\s*=\s*"?sha256', self._read_text(common, "config")))
        version = "repositoryformatversion = 1\n[extensions]\nobjectFormat = sha256" if self._sha256 else ""
        (self._git / "config").write_text(f"[core]\nbare = false\n{version}\n")
        (self._git / "HEAD").write_text("ref: refs/heads/none\n")

    def commit(self, reference: str) -> str | None:
        """Return the hash of the commit that `reference` names (`main`, `v1~2`, part of a hash), or None."""
        name, rest = re.fullmatch(r"(.*?)([~^:].*|@\{.*)?", reference, re.DOTALL).groups("")  # type: ignore[union-attr]
        name = "HEAD" if name == "@" else name
        _ = self._objects  # raises here, not as an unknown reference below
        if not _HASH.fullmatch(name):
            places = (place.format(name) for place in _PLACES)
            found = {place: commit for place in places if (commit := self.reference(place))}
            if len({*found.values()}) > 1:  # git takes the first: a tag may hide a branch
                raise UsageError(f"{name} names several commits; name one of {', '.join(found)}.")
            name = next(iter(found.values()), name)
        with suppress(UsageError):
            commit = f"{name}{rest}^{{commit}}"
            return self._run("rev-parse", "--verify", "--quiet", "--end-of-options", commit).decode().strip()
        return None

    def left_at(self, commit: str) -> str:
        """Return the merge base of HEAD and `commit`; empty if that is `commit` itself or unknown."""
        with suppress(UsageError):  # a shallow clone may lack it
            left = self._run("merge-base", commit, self.reference("HEAD") or commit).decode().strip()
            return left if left != commit else ""
        return ""

    def reference(self, name: str, links: int = MOST_LINKS) -> str | None:
        """Return the hash of the reference with the full `name`, or None."""
        if not _REFERENCE.fullmatch(name) or ".." in name:
            return None
        text = self._read_text(self._directory, name) or self._read_text(self._common, name)
        if text.startswith("ref:"):
            return self.reference(text[4:].strip(), links - 1) if links else None
        packed = rf"^(?:{_HASH.pattern})(?= {re.escape(name)}$)"
        found = _HASH.match(text) or re.search(packed, self._packed, re.MULTILINE)
        return found[0] if found else None

    def files(self, commit: str, name: str = "") -> dict[str, str]:
        """Return the blobs of a commit's files (or of one) by path, also through links. Raises UsageError."""
        wanted = self._below + name
        found: dict[str, str] = {}
        links: dict[str, str] = {}
        for path, blob, mode in self._tree_entries(commit, *(["--", wanted] if wanted else [])):
            kind = {stat.S_IFREG: found, stat.S_IFLNK: links}.get(stat.S_IFMT(mode), {})
            kind[path.removeprefix(self._below)] = blob
        texts = self.blobs(links.values())
        named = {path: os.fsdecode(texts[blob]) for path, blob in links.items()}
        return found | {path: found[file] for path, file in behind_links(named, found).items()}

    def blobs(self, hashes: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of blobs by their hashes. Raises UsageError where one is missing."""
        wanted = "".join(f"{each}\n" for each in hashes).encode()
        answer = memoryview(self._run("cat-file", "--batch", given=wanted))
        found = {}
        while answer:
            head = bytes(answer[:128]).partition(b"\n")[0]
            words = head.decode().split()
            if len(words) != 3:
                raise UsageError(f"git lacks objects of {self.top} ({head.decode()}); fetch them.")
            start, size = len(head) + 1, int(words[2])
            found[words[0]] = bytes(answer[start : start + size])
            answer = answer[start + size + 1 :]
        return found

    def ignored(self, paths: Iterable[str], commit: str = "") -> set[str]:
        """Return those of `paths` that a `.gitignore` or `info/exclude` of the repository ignores, or given a
        `commit`, its `.gitignore` files alone. The path of a folder ends with `/`."""
        asked = [self._below + path for path in paths]
        tree = self._checked_out(commit, ".gitignore") if commit else self._tree
        for path in asked:
            with suppress(OSError):  # a name may be too long; git reports that
                folder = tree / path if path.endswith("/") else (tree / path).parent
                folder.mkdir(parents=True, exist_ok=True)
        if not commit:
            above = {each.as_posix() for path in asked for each in Path(path.rstrip("/")).parents} - self._seen
            self._seen |= above
            for each in above:
                self._copy_ignored(each)
        given = b"".join(b"./" + os.fsencode(path) + b"\0" for path in asked)  # a name may begin with a colon
        said = self._run("check-ignore", "--no-index", "-z", "--stdin", given=given, codes=(0, 1), tree=tree)
        return {os.fsdecode(path[2:]).removeprefix(self._below) for path in said.split(b"\0") if path}

    @cached_property
    def _packed(self) -> str:
        return self._read_text(self._common, "packed-refs", _MOST_REFERENCES)

    @cached_property
    def index(self) -> Mapping[str, _Entry]:
        """Tracked files, by their paths. Raises UsageError."""
        room = _MOST_OUTPUT
        for path in (self._directory / "index", *self._directory.glob("sharedindex.*")):
            with suppress(FileNotFoundError):
                room -= (self._git / path.name).write_bytes(read_regular(path, self._directory, room))
        listed = self._run("ls-files", "--cached", "--stage", "--debug", "-z")
        return {
            name.removeprefix(self._below): _Entry(
                blob.decode() if stage == b"0" else "", *(int(each or 0) for each in noted)
            )
            for blob, stage, path, *noted in _ENTRY.findall(listed)
            if (name := os.fsdecode(path)).startswith(self._below) and not _INVALID & set(path.split(b"/"))
        }

    def is_unchanged(self, path: str, blob: str, data: bytes, commit: str) -> bool:
        """Return True if a file with the bytes `data` is `blob` of `commit`: by its bytes up to line ends, or if a
        filter converts it, by the size and mtime in the index."""
        if blob in (self._hash(data), self._hash(data.replace(b"\r\n", b"\n"))):
            return True
        entry = self.index.get(path)
        if entry is None or entry.blob != blob or self._below + path not in self._filtered(commit):
            return False
        found, written = (self.folder / path).stat(), (self._directory / "index").stat().st_mtime_ns
        noted = (entry.seconds * 10**9 + entry.nanoseconds, entry.size)
        # A file that was written with or after the index may have changed without a change of its mtime.
        return noted == (found.st_mtime_ns, found.st_size) and found.st_mtime_ns < written

    def _filtered(self, commit: str) -> Set[str]:
        """Return the paths below `top` of files that a filter converts, by the attributes in the commit: those in
        the work tree are untrusted, and an mtime is easily set."""
        if commit not in self._by_filter:
            listed, tree = self._tree_entries(commit), self._checked_out(commit, ".gitattributes")
            given = b"".join(os.fsencode(path) + b"\0" for path, *_ in listed)
            said = self._run("check-attr", "-z", "--stdin", *_CONVERTING, given=given, tree=tree).split(b"\0")
            states = zip(said[::3], said[2::3], strict=False)
            self._by_filter[commit] = {os.fsdecode(path) for path, state in states if state not in _NOT_CONVERTING}
        return self._by_filter[commit]

    def _checked_out(self, commit: str, name: str) -> Path:
        """Return a folder of ours with the commit's files of this name, at their paths."""
        listed = [(path, blob) for path, blob, mode in self._tree_entries(commit) if stat.S_ISREG(mode)]
        named = {path: blob for path, blob in listed if posixpath.basename(path) == name}
        texts = self.blobs(named.values())
        tree = self._git / f"{commit}{name}"
        tree.mkdir(exist_ok=True)
        for path, blob in named.items():
            with suppress(OSError):  # a name may be too long
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_bytes(texts[blob])
        return tree

    def _tree_entries(self, commit: str, *words: str) -> list[tuple[str, str, int]]:
        """Return path below `top`, blob and mode of a commit's files and links."""
        listed = _FILE.findall(self._run("ls-tree", "-r", "-z", "--full-tree", commit, *words))
        kept = (each for each in listed if not _INVALID & set(each[2].split(b"/")))
        return [(os.fsdecode(path), blob.decode(), int(mode, 8)) for mode, blob, path in kept]

    def _hash(self, data: bytes) -> str:
        return hashlib.new("sha256" if self._sha256 else "sha1", b"blob %d\0" % len(data) + data).hexdigest()

    def _read_text(self, folder: Path, name: str, most: int = MOST_TEXT) -> str:
        """Return the text of a file of a git directory; empty without one."""
        with suppress(OSError):
            return read_regular(folder / name, folder, most).decode("utf-8", "surrogateescape")
        return ""

    def _copy_ignored(self, folder: str) -> None:
        """Copy the `.gitignore` of a folder, for the top `info/exclude` too. A link, which git takes for none,
        and what is no file are left out."""
        source = self.top / folder / ".gitignore"
        copies = [(source, self._tree / folder / ".gitignore")] if not os.path.islink(source) else []  # noqa: PTH114
        if folder == ".":
            copies.append((self._common / "info" / "exclude", self._git / "info" / "exclude"))
        for path, to in copies:
            with suppress(OSError, UsageError):
                to.write_bytes(read_regular(path, path.parent, MOST_TEXT))

    @cached_property
    def _objects(self) -> Path:
        """The folder with the repository's objects. Raises UsageError for objects elsewhere and irregular files:
        git would follow links, block at a FIFO, and read other repositories."""
        objects = contained(self._common / "objects", self._common)
        if (objects / "info" / "alternates").exists():
            raise UsageError(
                f"{self.top} shares objects with another repository, which is not read; give it its own by "
                "`git repack -a -d` and remove .git/objects/info/alternates."
            )
        for folder, folders, names in os.walk(objects):
            for path in (Path(folder, name) for name in (*folders, *names)):
                kind = path.lstat().st_mode
                if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
                    raise UsageError(f"{path} is no regular file; git objects have to be.")
        return objects

    def _run(
        self,
        command: str,
        *words: str,
        given: bytes = b"",
        codes: tuple[int, ...] = (0,),
        tree: Path | None = None,
    ) -> bytes:
        """Return the output of a git command in the work tree `tree` (None: ours). Raises UsageError."""
        needs_objects = command not in ("check-ignore", "check-attr", "ls-files")
        tree = tree or self._tree
        environment = {
            **{name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},  # Windows needs it
            "PATH": os.pathsep.join(absolute_path()),
            "GIT_DIR": str(self._git),
            "GIT_WORK_TREE": str(tree),
            "GIT_INDEX_FILE": str(self._git / ("index" if command == "ls-files" else "none")),
            "GIT_OBJECT_DIRECTORY": str(self._objects if needs_objects else self._git / "objects"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_ALLOC_LIMIT": str(_MOST_MEMORY),
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LITERAL_PATHSPECS": str(int(command == "ls-tree")),
        }
        try:
            with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
                stdin.write(given)
                stdin.seek(0)
                with subprocess.Popen(
                    [str(self._program), command, *words],
                    cwd=tree, env=environment, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr,
                ) as process:  # fmt: skip
                    assert process.stdout is not None
                    began = time.monotonic()
                    timer = threading.Timer(_SECONDS - self._spent, process.kill)
                    timer.start()
                    output = process.stdout.read(_MOST_OUTPUT)
                    if more := process.stdout.read(1):
                        process.kill()
                    timer.cancel()
                    self._spent += time.monotonic() - began
                stderr.seek(0)
                said = stderr.read(MOST_TEXT).decode("utf-8", "replace").strip().split("\n")[-1]
        except (OSError, ValueError) as error:
            raise UsageError(f"git does not answer in {self.top} ({error}).") from error
        if more or process.returncode not in codes:
            raise UsageError(f"git fails in {self.top} ({said or 'too much output, or too slow'}).")
        return output
