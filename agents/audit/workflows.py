"""Finds changes of workflows that ignore failures of tests, or run fewer tests."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

from ..syntax.changes import between_ends
from ..worktree.tree import Tree
from .base import Base
from .pytest_options import SETTINGS
from .records import Tampering
from .started import FAILS, YAML, arguments, commands_in, heeds, runs_tests, starting, steps, text_of, unasked

_WORKFLOWS = re.compile(
    r"\.github/(workflows/[^/]*|actions/.*)\.ya?ml|\.circleci/.*|\.(?!github/|.*(environment|meta)\b)[\w-]+(/.*)?\.ya?ml|"
    r"([\w-]*pipelines|appveyor|[Tt]askfile)\.ya?ml|(.*/)?((GNU)?[Mm]akefile|[Jj]ustfile|Jenkinsfile|Dockerfile)|"
    r"tox\.(ini|toml)|(pyproject|hatch)\.toml|noxfile\.py|package\.json|.*\.(sh|bash|ps1|bat|mk)|(scripts?|bin|ci)/[\w-]+"
)
_IGNORED = re.compile(
    r";\s*(true|:|exit\s+0|echo\b[^;]*)[\"')]*$|[^&>]&(?![&>])|success_codes|\*\*\{|--suppress-tests-failed|"
    r"\bpython[\d.]*\s+-(O|c\b(?!.{0,200}(check|exit|raise))(?=.{0,200}(py\.?test|tox|nox|unittest)))|"
    r"returnStatus:\s*true|^(if|while|until)\s+[^!\s]|"
    r"^[^#]*(\$\(|[<>]\(|(?<![\w*./])`)(?!which|command)[^)`#]{0,200}"
    r"\b(py\.?test|tox|nox|unittest|make test)(?![\w.=])|"
    r"\bmake\b[^\"'=|&;]*\s(-[a-zA-Z]*[niqt]|--(dry-run|just-print|recon|ignore-errors|touch|question)\b)"
)
"""In a command that runs tests: ignores failures."""
_NEGATED = re.compile(r"(- )?(run:\s+)?[\"']?((if|while|until)\s+)?!\s")
_MOST_THEN = 20
"""Lines after a command with `!` that handle its failure."""
_IGNORES = re.compile(
    r"(^|[{,]\s*)(- )?((continue|allow|ignore|soft)[-_]?(on[-_]?)?(error|fail|outcome)\w*\s*[:=]"
    r"(?!\s*(false|no|off|0)\b)|(failure|error)\s*:\s*ignore\b|"
    r"shell:\s*(/\S*/)?(((ba|z)?sh\b(?!.*\s-\w*e)|true|echo|cat).*\{0\}|python)|enabled:\s*false|"
    r"if:\s*(\$\{\{\s*)?false\b|stages:\s*\[\s*manual\s*\])|"
    r"^(- )?(trap\b.*\bexit\s+0\b|except\s+\w|with\s+[\w.]*suppress\(|session\.skip\(|(catch|warn)Error\b|"
    r"(alias\s+(?=\S+=)|(function\s+)?(?=\S+\s*\(\)))(py\.?test|python[\d.]*|tox|nox|make)\s*[(=])",
    re.IGNORECASE,
)
"""In a step, job, recipe or section that runs tests: ignores failures."""
_BEFORE_TESTS = re.compile(
    r"(^|[&;|]\s*)exit(\s+0)?(;\s*fi)?$|^exec\s+[\w./][^<>]*$|^(- )?set\s+\+(e\b|o\s+errexit)"
)
_FOR_ALL = re.compile(
    r"PYTHONOPTIMIZE|PYTEST_PLUGINS|^\.IGNORE|^\.SHELLFLAGS(?!.*\s-\w*e)|^SHELL\s*[:?]?=(?!.*(sh|shell|cmd)\b)|"
    r"^nox\.options\.(keywords|tags)(?!.*test)|^default_stages:(?!.*(commit|push))|^\.DEFAULT_GOAL(?!.*(test|all|check))|"
    r"^(export\s+)?MAKEFLAGS\b.*[\s=](-\w*[niqt]\w*$|--ignore|--dry)"
)
_IN_PLACE = re.compile(r"([Mm]akefile|\.ini|\.toml|noxfile\.py)$")
"""New files that are read instead of others."""
_OTHER_COMMIT = re.compile(r"ref:(?!.*(head|sha|inputs|github\.ref\b))")
_ELSEWHERE = re.compile(r"\s*path:\s*[\"']?(\./)?\w")
"""A checkout of other code, on which the tests are not run."""
_DASHED = re.compile(r"^@?-|[\"']-\s[^\"']*\b(py\.?test|tox|nox|unittest|make)\b")
"""A command whose failure make, tox or hatch ignores; in YAML an item of a list."""
_STARTS = re.compile(r"^(- )?(?!- |[\w-]+:)|\b(run|tox|nox|make)\b|(?<!la)test")
"""A command that may run tests by a script or an action."""
_FEWER = re.compile(
    r"\s(-[qvsxl]*[kmhVc]|-p\s+no:(?!(randomly|random_order|xdist|cacheprovider|logging|sugar)\b)\S+|(-o|--override-ini)[\s=]*(addopts|testpaths|python_|norecursedirs|xfail_strict)\S*|@\S+|"
    r"--(deselect|ignore(-glob)?|collect-only|co|lf|last-failed|version|help|setup-(plan|only)|fixtures(-per-test)?|"
    r"(stepwise|sw)(-skip)?|markers|cache-show|noconftest|confcutdir))(?![^\s=}])"
    r"|\s-[qvsxl]*[km]\w|(?<=unittest) [\w/]+\.\w"
)
"""Options of pytest that select fewer tests or none, and single names."""
_FILES = re.compile(r"\s(?!-)([^\s:]+\.py(?:::\S*)?)(?![^\s=}])")
_OTHERWISE = re.compile(r"\|\|[^&;|]*")
_INSTEAD = re.compile(r"\s*(?:[({][^)}]*|[^&;]*)")
"""The command, or the group of some, after `||`."""
_STAGE = re.compile(r"when\s*\{")
"""In a Jenkins stage that ran tests unconditionally."""
_SELDOM = re.compile(r"(- )?if:(?!\s*.?(\$\{\{ ?)?(always|success|! ?(cancelled|failure))\(\)( ?\}\})?.?$)")
"""In a GitHub step or job that ran tests unconditionally."""
_IF = re.compile(r"(- )?if(n?(def|eq))?\s+(?!.*\bfi\b)")
_IF_INLINE = re.compile(r"(- )?(run:\s+)?[\"']?if\s.*;\s*fi\b")
_OF_HOST = re.compile(r"\.(github|gitlab|forgejo|gitea)|bitbucket")
_BEFORE_OTHERS = re.compile(r"(?!- |\w+:).*&&(?!.*\|\|)")
"""A command in a script that goes on after its first part fails."""
_OF_MATRIX = re.compile(
    r"continue-on-error:\s*\$\{\{\s*(?:\w+\(\s*)?matrix\.([\w-]+)"
    r"(?:(?:\s*&&\s*true)?\s*\|\|\s*false|\s*(?:==|,)\s*'([^']+)'\)?)?\s*\}\}"
)
_EXPRESSION = re.compile(r"\$\{\{[\w\s.|&=!()-]*\}\}|\$\([^()]*\)")
_SAVED = re.compile(r"^\s*\w+=\$\?")
"""After `||`: how the tests ended is kept."""
_FROM_JSON = re.compile(r"\$\{\{ ?fromJSON\([\"']\[ ?\][\"']\) ?\}\}", re.IGNORECASE)
_VALUE = re.compile(r"\s*(- )?([\w-]+):[ \t]*(?!\[\s*$)(\S.*)")
_PARTS = re.compile(r"''|\"\"|[^\[\]{},\s\"']+")
_LEAST_COVERAGE = re.compile(r"\bfail[-_]under[=: \t\"']{1,9}(\d{1,9})")
_LINE = re.compile(r"(\s*)((- )*)")


def is_workflow(path: str) -> bool:
    """Return True for a file that says how tests are run."""
    return bool(_WORKFLOWS.fullmatch(path))


def workflows(tree: Tree, base: Base) -> Iterator[Tampering]:
    """Yield what has failures ignored, or fewer tests run, in the workflows that differ from the base's."""
    paths = [*filter(is_workflow, base.differing)]
    before, now = (Counter(each for path in paths for each in _told(files, path)) for files in (base.tree, tree))
    unstarted: set[str] = set()
    for path in paths:
        yield from _in_workflow(path, base.tree, tree, before, now)
        ran = before - now or steps(base.tree, path)
        if ran and heeds(path, text_of(base.tree, path)) and not heeds(path, text_of(tree, path)):
            yield Tampering(path, 1, "failures are ignored: it does not end with how the tests ended")
        old, new = (starting(path, text_of(each, path), each) for each in (base.tree, tree))
        is_gone = not path.endswith(YAML) or not any(map(runs_tests, text_of(tree, path).splitlines()))
        lost = [each for each in old if old[each] and not new.get(each, is_gone or any(new.values()))]
        if lost and not any(new[each] and not old.get(each) for each in new):
            unstarted.add(path)
            yield Tampering(path, 1, f"changes do not start tests any more: {', '.join(lost)}")
    yield from (each for each in _removed_steps(tree, base) if each.path not in unstarted)
    least = [_least_coverage(each, base.differing) for each in (base.tree, tree)]
    if least[0][0] > least[1][0]:
        yield Tampering(least[0][1], 1, f"less coverage is asked for: {least[1][0]}, not {least[0][0]}")


def _least_coverage(tree: Tree, paths: Sequence[str]) -> tuple[int, str]:
    """Return the most coverage that one of the files asks for as the least, and which does."""
    told = [path for path in paths if is_workflow(path) or path in (*SETTINGS, ".coveragerc")]
    found = [(int(each), path) for path in told for each in _LEAST_COVERAGE.findall(text_of(tree, path))]
    return max(found, default=(0, ""))


def _told(tree: Tree, path: str) -> list[str]:
    told = commands_in(path, text_of(tree, path).splitlines())
    return [text for _, text in told if runs_tests(text, _STARTS)]


def _in_workflow(path: str, base: Tree, tree: Tree, tests: Counter[str], now: Counter[str]) -> Iterator[Tampering]:
    """Yield new commands and settings that ignore failures, or replace others and run fewer tests. If none of the
    base's `tests`, its commands, is gone, new ones take nothing away."""
    old, new = text_of(base, path), _FROM_JSON.sub("[]", text_of(tree, path))
    lines = new.splitlines()
    texts, commands = [text for _, text in commands_in(path, old.splitlines())], [*commands_in(path, lines)]
    same, gone, come = between_ends(texts, [text for _, text in commands])
    known = Counter(gone)
    added = []
    for at, (number, text) in enumerate(commands[same : same + len(come)], same + 1):
        if not known[text]:
            added.append((number, text, commands[at][0] if at < len(commands) else len(lines) + 1))
        known[text] -= 1
    replaced = [text for text, count in known.items() if count > 0 and runs_tests(text)]
    before = {each for text in replaced for each in _fewer(text)}
    asked = {path for text in replaced for path in unasked(text, tree)}
    asking = [text for _, text, _ in added if replaced and runs_tests(text)]
    parts = {each for text in asking for each in _fewer(text)}
    halves = {each for each in parts if {f"-m not {each[3:]}", f"-m {each.removeprefix('-m not ')}"} & parts}
    nowhere = set.intersection(*(unasked(text, tree) for text in asking)) if asking else set()
    more = sum(-count for text, count in known.items() if runs_tests(text)) > 0
    is_yaml, is_github = path.endswith(YAML), path.startswith(".github/")
    is_gone = bool(tests - now) or (not old and bool(_IN_PLACE.search(path)))
    users = {at for at, text, _ in added if "-pytest" in text and now[text] > tests[text]}
    kept = [at for at, text in commands if runs_tests(text) and (is_gone or (text in tests and at not in users))]
    touches, around = kept or not any(map(runs_tests, lines)), _Blocks(lines)
    is_empty, true_before = _matrix(lines, around, old)

    def is_for_new(text: str) -> bool:
        """Return True for a condition of a matrix that no job of the base meets."""
        if (found := _OF_MATRIX.fullmatch(text)) is None:
            return False
        values = [each for each in map(str.strip, old.splitlines()) if each.startswith(("- ", f"{found[1]}:"))]
        return all(found[2] not in each for each in values) if found[2] else found[1] not in true_before

    def has_kept(block: range) -> bool:
        return bisect_right(kept, block.stop) > bisect_right(kept, block.start)

    known_values = {*_PARTS.findall(old)}

    for number, text, following in added:
        runs, (block, fails), bare = runs_tests(text), around.of(number - 1), _EXPRESSION.sub("", text)
        in_block = has_kept(block) or (kept and lines[block.start - 1].strip() == "run:")  # of `defaults:`
        *heads, last = bare.split("||")
        in_head = any(map(runs_tests, heads))
        then = [*map(FAILS.search, lines[number - 1 : min(block.stop, number + _MOST_THEN)])]
        heeded = FAILS.search(last) or runs_tests(last) or (_SAVED.search(last) and any(then))
        swallowed = in_head and not heeded
        piped = re.search(r"[^|]\|[^|]", bare) and not fails and not re.match(r"(- )?\w+:\s*\|", text)
        negated = _NEGATED.match(text) and not any(then)
        goes_on = following <= block.stop and _BEFORE_OTHERS.match(text) if is_yaml else _DASHED.search(text)
        ignored: object = runs and (_IGNORED.search(text) or swallowed or piped or negated or goes_on)
        ignored = ignored or (_BEFORE_TESTS.search(text) and has_kept(range(number, block.stop)))
        lenient = _IGNORES.search(re.sub(r"[\"']", "", text)) and not is_for_new(text)
        allowed = is_yaml and lines[around.steps(number - 1).start - 1].strip() == "allow_failures:"
        if allowed:
            inside = _PARTS.findall(" ".join(lines[index] for index in block))
            allowed = known_values.issuperset(part for part in inside if part[-1] not in ":-")
        ignored = (in_block and (ignored or lenient)) or (not is_github and kept and ignored) or allowed
        goes_there = not is_github and text.startswith("- cd ") and has_kept(around.steps(number - 1))
        is_set, ignores_all = (in_block or goes_there) and not runs and not more, _FOR_ALL.search(text) and touches
        fewer: object = text in asking and (_fewer(text) - before - halves or nowhere - asked)
        adds = _adds(text) and (in_block or (touches and "args:" not in text))
        fewer = fewer or adds or (is_set and unasked(text, tree))
        seldom = in_block and not more and (_SELDOM if is_github else _STAGE).match(text)
        after = (found[0] for each in bare.split("||")[1:] if (found := _INSTEAD.match(each)))
        on_condition = (
            seldom
            or (not in_head and any(map(runs_tests, after)))
            or (not more and _IF.match(text) and _is_in_one_branch(lines[number : number + _MOST_THEN]))
            or (not more and _IF_INLINE.match(text) and _is_in_one_branch(text.split(";")))
        )
        told = {
            "tests are run on a condition": on_condition and not ignored,
            "tests are run on another commit": _OTHER_COMMIT.match(text) and has_kept(around.steps(number - 1)),
            "tests are run for no value of a matrix": is_empty
            and re.fullmatch(r"exclude:|[\w-]+:\s*\[\s*\]", text),
            "failures are ignored": ignored or ignores_all,
            "fewer tests are asked for": fewer and not (ignored or ignores_all),
        }
        for why in filter(told.get, told):
            yield Tampering(path, number, f"{why}: {text[:200]}")


def _is_in_one_branch(lines: Sequence[str]) -> bool:
    """Return True if tests are run after an `if` of a shell or make, and a branch neither runs any nor fails."""
    body, *closed = re.split(r"\n(?:fi|endif)\b", "\n".join(map(str.strip, lines)), maxsplit=1)
    branches = [*body.split("\nel"), *([""] if "\nelse" not in body else [])]
    ends = [any(runs_tests(line) or FAILS.search(line) for line in each.splitlines()) for each in branches]
    return bool(closed) and any(map(runs_tests, body.splitlines())) and not all(ends)


def _fewer(text: str) -> set[str]:
    """Return the options and arguments of a command, unless others are given, by which it asks for fewer tests."""
    parts = re.split(r"\s(?=-)", arguments(_OTHERWISE.sub("", text)))
    fewer = {" ".join(each.split()) for each in parts if _FEWER.search(f" {each}")}
    return fewer.union(*map(_FILES.findall, parts))


def _adds(text: str) -> bool:
    """Return True if a variable has pytest run fewer tests, or its value stands in the next line."""
    _, _, value = re.sub(r"^(- )?args:", "PYTEST_ADDOPTS:", text).partition("PYTEST_ADDOPTS")
    asked = re.sub(r"[\"'=:,\[\]]", " ", value)
    return bool(_FEWER.search(asked) or _FILES.search(asked) or re.fullmatch(r":\s*([>|][-+]?)?", value))


def _matrix(lines: Sequence[str], around: _Blocks, old: str) -> tuple[bool, set[str]]:
    """Return True if each value of a matrix's list is an item of its own, as when all are excluded, and the names
    that are true in other items than those with a value that is not in `old`."""
    blocks: dict[int, list[tuple[str, str, list[str]]]] = {}
    for at, found in enumerate(map(_VALUE.fullmatch, lines)):
        if found:
            told = (found[1] or "", found[2], _PARTS.findall(found[3]))
            blocks.setdefault(around.of(at)[0].start, []).append(told)
    alone = {(each[0][1], *each[0][2]) for each in blocks.values() if len(each) == 1 and each[0][0]}
    lists = [each for at, block in blocks.items() if lines[at - 1].strip() == "matrix:" for each in block]
    is_empty = any({(name, part) for part in parts} <= alone for _, name, parts in lists)
    truths = [block for block in blocks.values() if any("true" in parts for *_, parts in block)]
    known = {"true", *_PARTS.findall(old)}
    sure = (block for block in truths if not block[0][0] or all(known.issuperset(parts) for *_, parts in block))
    return is_empty, {name for block in sure for _, name, parts in block if "true" in parts}


class _Blocks:
    """The steps, jobs, recipes and sections of a file: the lines beside one, and those below it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._indents = [(len(found[1]), len(found[0])) for found in map(_LINE.match, lines) if found]
        self._latest: dict[int, tuple[range, bool]] = {}
        """The last block by column."""

    def of(self, at: int, column: int | None = None) -> tuple[range, bool]:
        """Return the block of a line, or of a column, and True if a pipe fails in it as its commands do."""
        inner = self._indents[at][1] if column is None else column
        if inner not in self._latest or at not in self._latest[inner][0]:
            block = self._range(at, inner)
            self._latest[inner] = (block, any("pipefail" in self._lines[index] for index in block))
        return self._latest[inner]

    def steps(self, at: int) -> range:
        """Return the steps beside the one that checks out a `ref:`; none if it does so in a folder by itself."""
        above = range(at, max(-1, at - _MOST_THEN), -1)
        first = next((each for each in above if self._lines[each].lstrip().startswith("- ")), at)
        with_it = self.of(at)[0][:_MOST_THEN]
        if any(map(_ELSEWHERE.match, (self._lines[index] for index in with_it))):
            return range(0)
        return self.of(first, self._indents[first][0])[0]

    def _range(self, at: int, inner: int) -> range:
        lines, depth = self._lines, self._indents

        def is_in(index: int) -> bool:
            return not lines[index].strip() or (depth[index][0] >= inner and lines[index][0] != "[")

        first = last = at
        while lines[first][:1] != "[" and depth[first][0] >= inner and first > 0:
            if not (is_in(first - 1) or 0 < inner == depth[first - 1][1]):
                break
            first -= 1
        while last + 1 < len(lines) and is_in(last + 1):
            last += 1
        return range(first, last + 1)


def _removed_steps(tree: Tree, base: Base) -> Iterator[Tampering]:
    """Yield workflow files that run tests no more, or fewer times while no other runs more; for other systems than
    the host's own, none if changes still trigger tests."""
    paths = filter(is_workflow, base.differing)
    more = {path: steps(tree, path) - steps(base.tree, path) for path in paths}
    if any(more[path] < 0 and path.endswith(YAML) for path in more):
        started = "".join(text_of(tree, path) for path in tree.files if is_workflow(path) and path.endswith(YAML))
        for path in more:  # a script or target that nothing names takes the place of no step
            name = path.rpartition("/")[2]
            name = name if name.endswith("sh") else name.partition(".")[0].lower().removesuffix("file")
            more[path] = more[path] if path.endswith(YAML) or name in started else min(more[path], 0)
    hosts = [path for path in tree.files if _OF_HOST.match(path) and path.endswith(YAML)]
    is_hosted = any(True in starting(path, text_of(tree, path), tree).values() for path in hosts)
    for path in more if sum(more.values()) < 0 else ():
        if more[path] < 0 and (path in tree.files or _OF_HOST.match(path) or not is_hosted):
            yield Tampering(path, 1, "a step that runs the tests is gone")
