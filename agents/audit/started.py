"""Reads workflows and scripts: their commands, if these run tests, and what starts them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..worktree.tree import Tree
from .nox_sessions import default_sessions
from .triggers import LONGEST, started

YAML = (".yml", ".yaml")

RUNS_TESTS = re.compile(
    r"(\b|-m)(pytest|py\.test|tox|nox|unittest|nose2|make (test|check)\w*|hatch (run )?test|greenloop)\b"
    r"(?![.-](ini|toml)\b)"
)
NO_STEP = re.compile(
    r"(- )?(#|(run:\s+|\w+\s*[:?]?=\s*[\"']?)?@?((echo|printf|true|which|command -v)\b|:\s)([^&|;`$]|\$(?!\())*$|"
    r"\[(?!\[?[\"'\s])|(name|repo|exclude|description|path|key|additional_dependencies):|"
    r"pip |uv (?!run\b)|deps\b)|(import |@)nox\b|nox\.options\b|"
    r".*(\binstall\b|\s--(notest|version)\b)"
)
_JOINED = re.compile(r"&&|\|\||;")
_ASKED = re.compile(r"(?:py\.?test|unittest)\b(?:[^&|;]|>&)*")
_NO_ARGUMENT = re.compile(r"\{(?:pos)?args:?|[\"',()\[\]]")
_TESTS = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_FOLDER = re.compile(
    r"(?:working-directory\s*:|change_?dir\s*=|session\.(?:chdir|cd)\(|\bcd\s)\s*[\"']?(?:[${][\w{}]*/)?([\w.][\w./-]*)"
)
_UNITS = {
    "Makefile": re.compile(r"^(?!\.[A-Z])([\w.%/-]+)[ \t]*::?(?!=)([^=;#\n]*)", re.MULTILINE),
    "tox": re.compile(r"^\[(?:tool\.tox\.)?(?:testenv|env_run_base|env)\b[:.]?([^\]\n]*)()\]", re.MULTILINE),
}
"""Heads of targets that are run by name: the name, and its dependencies."""
_LISTED = re.compile(r"^env_?list\s*=\s*(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_OWN = re.compile(r"^commands\s*=", re.MULTILINE)
_DEEPEST = 10
"""Levels of make's dependencies, and of functions that call others."""
_WORD = re.compile(r"[\w{}-]+")
FAILS = re.compile(r"\b(exit|return)\s+[\"']?([1-9]|\$(?!\(\())")
_ENDS = re.compile(r"^(#!.*\s-\w*e|[ \t]*set\s+(-\w*e|-o\s+errexit))", re.MULTILINE)
"""In a script that ends with the first failed command."""
_HEADS = ("if ", "while ", "until ")
_ESCAPED = re.compile(r"\\(?:x|u00)([2-7][0-9a-fA-F])")
_FUNCTION = re.compile(r"^(?:(?:function[ \t]+)?([\w-]+)[ \t]*(?:\(\)[ \t]*)?\{|\})", re.MULTILINE)
"""The head of a function of a script, or its end."""
_CALLED = re.compile(r"(?:^|[;&|({!]|\b(?:then|do|else|if)\b)[ \t]*([\w-]+)(?=[\s;)]|$)", re.MULTILINE)
_MOST_MARKS = 20
"""Commands of one file that are counted where it is named."""
_PACKAGES = re.compile(r"^( *(?:additional_)?dependencies:) *\n(?: +- .*\n?)+", re.MULTILINE)
_NAMED = re.compile(r"( *)(- +)?(?:([\w.-]+):[ \t]*)?(?:&([\w-]+))?")
_LENT = re.compile(r"\.|(?:definitions|commands):")
"""Top-level keys of YAML with what only others use."""
_USED = re.compile(
    r"^[^#\n]*?(?:(?=\*\w)|extends:[ \[\"']*|!reference \[[ \"']*|"
    r"(?:uses|template|local|include):[ \"']*(?=[\w./-]*/|[\w-]+\.ya?ml)|"
    r"^ *- (?=[\w.-]+:?\s*$)|(?<=[ \"'])(?=\./[\w/.-]*\.(?:ba)?sh\b)|\b(?:ba)?sh (?=[\w./-]*\.(?:ba)?sh\b))"
    r"(\*?[\w./-]+)",
    re.MULTILINE,
)
"""A reference in YAML to a template, an anchor, a command or a file, up to the end of its name."""
_TOLD = ("commands", "ignore_", "setenv", "set_env", "test-command", "change")
_TASKS = re.compile(r"\[(tool|envs)\..*(scripts|tasks)\b.*\]")
"""Keys and sections of INI and TOML files with commands and their exit handling."""
_LONGEST = 10_000
"""Characters of a continued command."""


def runs_tests(text: str, pattern: re.Pattern[str] = RUNS_TESTS) -> bool:
    """Return True for a command of which a part runs tests, or does what the pattern finds."""
    return any(pattern.search(each) and not NO_STEP.match(each.strip()) for each in _JOINED.split(text))


def arguments(text: str) -> str:
    """Return what follows the runners in a command, without what is none of their arguments."""
    return _NO_ARGUMENT.sub(" ", " ".join(_ASKED.findall(text)))


def unasked(text: str, tree: Tree) -> set[str]:
    """Return the files with tests that are in none of the folders that a command names or runs in, if any."""
    named = (each.strip("./") for each in (*arguments(text).split(), *_FOLDER.findall(text)))
    tests = set(filter(_TESTS.fullmatch, tree.files))
    folders = tuple(f"{each}/" for each in named if any(path.startswith(f"{each}/") for path in tests))
    return {path for path in tests if folders and not path.startswith(folders)}


def starting(path: str, text: str, tree: Tree) -> dict[str, bool]:
    """Return what runs tests in a CI file, and if changes trigger it; for make, nox or tox the targets with their
    dependencies or defaults, and if they run tests."""
    if path.endswith(YAML):
        return started(text, RUNS_TESTS, [each for each in tree.files if each.endswith(".py")])
    name = path.rpartition("/")[2]
    if name == "noxfile.py":
        return default_sessions(text, runs_tests)
    kind = name if name in _UNITS else "tox" if name.endswith((".ini", ".toml")) else "Makefile"
    if kind == "Makefile" and not name.lower().endswith(("makefile", ".mk", "justfile")):
        return {}
    _, *parts = _UNITS[kind].split(text)
    units = [*zip(parts[::3], parts[1::3], parts[2::3], strict=True)]
    running = {name for name, _, body in units if any(map(runs_tests, body.splitlines()))}
    if kind == "Makefile":
        for _ in range(_DEEPEST):
            running |= {name for name, needs, _ in units if running.intersection(needs.split())}
        return {name: name in running for name, *_ in units} if running else {}
    own = [name for name, _, body in units if _OWN.search(body)]
    listed = _LISTED.search(text)
    names = _WORD.findall(listed[1]) if listed else ["", *own]
    return {kind: any((each if each in own else "") in running for each in names)} if running else {}


def text_of(tree: Tree, path: str) -> str:
    """Return the text of a file, with marks at what refers to something that runs tests, or fails: calls of a
    shell script's functions, templates, anchors and commands of YAML, and other files."""
    text = tree.files.get(path, b"").decode("utf-8", "replace")
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    is_yaml, is_script = path.endswith(YAML) and len(text) < LONGEST, _is_script(path, text)
    if not (is_yaml or is_script):
        return text
    text = _PACKAGES.sub(lambda found: found[1] + "\n" * found[0].count("\n"), text) if is_yaml else text
    parts = [*(_blocks(text) if is_yaml else _parts(text))]
    used = _USED if is_yaml else _CALLED
    running = {name for name, part in parts if any(map(runs_tests, part.splitlines()))}
    calls = [(name, {*used.findall(part)}) for name, part in parts]
    for _ in range(_DEEPEST):
        running |= {name for name, called in calls if not running.isdisjoint(called)}
    marks = {name: " exit 1" for name, part in parts if is_script and FAILS.search(part)}
    marks |= dict.fromkeys(running, "-pytest" if is_yaml else " pytest")

    counts: dict[str, int] = {"": 0}

    def marked(found: re.Match[str]) -> str:
        name = found[1]
        if name[:1] == "*" and name in running:
            return f"{found[0]} # pytest"
        file = _named_file(tree, path, name) if is_yaml and found[0].strip() != f"- {name}" else ""
        if file not in counts:
            lines = tree.files[file].decode("utf-8", "replace").splitlines()
            counts[file] = sum(map(runs_tests, lines))
        return found[0] + (marks.get(name) or "-pytest" * min(counts[file], _MOST_MARKS))

    return used.sub(marked, text)


def steps(tree: Tree, path: str) -> int:
    """Return how many commands of a file run tests, also those that it refers to; none of what only others use."""
    lines = text_of(tree, path).splitlines()
    top = ""
    for at, line in enumerate(lines if path.endswith(YAML) else ()):
        top = line if line[:1].strip() else top
        lines[at] = "" if _LENT.match(top) else line
    return sum(max(1, text.count("-pytest")) for _, text in commands_in(path, lines) if runs_tests(text))


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a YAML file may use by its name, with its lines: hidden jobs, anchors, commands of CircleCI."""
    lines = text.splitlines()
    top = ""
    for at, line in enumerate(lines):
        found = _NAMED.match(line)
        assert found is not None
        top = line if line[:1].strip() else top
        own, is_item, anchor = len(found[1]), found[2], found[4]
        key = found[3] or ""
        is_lent = key[:1] == "." or (top.startswith("commands:") and own in (2, 4))  # of CircleCI
        names = [f"*{anchor}"] * bool(anchor) + [key] * (is_lent and not is_item)
        part = [line]
        for each in lines[at + 1 :] if names else ():
            inner = len(each) - len(each.lstrip())
            if each.strip() and not (inner > own or (inner == own and each[inner] == "-" and not is_item)):
                break
            part.append(each)
        yield from ((name, "\n".join(part)) for name in names)


def _named_file(tree: Tree, path: str, name: str) -> str:
    """Return the path of the file that a YAML file names, of an action by its folder; empty if it is none here."""
    local = name.removeprefix("./").strip("/")
    beside = f"{path.rpartition('/')[0]}/{local}".lstrip("/")
    places = (local, f"{local}/action.yml", f"{local}/action.yaml", beside)
    return next((each for each in places if each in tree.files), "")


def _is_script(path: str, text: str) -> bool:
    return path.endswith((".sh", ".bash")) or bool(re.match(r"#!.*sh\b", text))


def _parts(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield the parts of a shell script, each with the name of the function that it is, if any."""
    first, *rest = _FUNCTION.split(text)
    yield None, first
    yield from zip(rest[::2], rest[1::2], strict=True)


def heeds(path: str, text: str) -> bool:
    """Return True if a shell script ends with how the tests ended that it runs, and for what is none."""
    if not _is_script(path, text):
        return True
    functions = [part for name, part in _parts(text) if name]
    for each in ("".join(part for name, part in _parts(text) if not name), *functions):
        lines = (line for _, line in commands_in(path, each.splitlines()))
        told = [line for line in lines if line not in ("fi", "done", "esac")]
        running = [
            at for at, line in enumerate(told) if runs_tests(_unheeded(line) if _ENDS.search(text) else line)
        ]
        if running and running[-1] + 1 < len(told) and not any(map(FAILS.search, told[running[-1] :])):
            return False
    return True


def _unheeded(line: str) -> str:
    """Return the part of a command whose failure does not end a script that ends with the first failed one."""
    return "" if "||" in line or line.startswith(_HEADS) else line.rpartition("&&")[0]


def commands_in(path: str, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, continued ones as one; of an INI file only commands and settings."""
    found: list[tuple[int, str]] = []
    key, section, goes_on = "", "", False
    of_commands = not path.endswith((".ini", ".toml"))
    for number, line in enumerate(lines, 1):
        text = line.strip()
        section = text if line.startswith("[") else section
        if not line[:1].isspace() and (named := re.match(r"([\w-]+)\s*=", line)):
            key = named[1]
        is_told = of_commands or key.startswith(_TOLD) or _TASKS.fullmatch(section)
        if not text or text.startswith("#") or not is_told:
            goes_on = False
            continue
        if found and len(found[-1][1]) < _LONGEST and (goes_on or text.startswith(("|", "&&", ";"))):
            found[-1] = (found[-1][0], f"{found[-1][1]} {text}")
        else:
            found.append((number, text))
        goes_on = text.endswith(("\\", "||", "&&"))
        found[-1] = (found[-1][0], found[-1][1].removesuffix("\\").rstrip())
    yield from found
