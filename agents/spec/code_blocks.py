"""Examples in code blocks: statements that set something up, then steps with their results."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import dropwhile, takewhile

from ..records import PROGRAM_FILE, Signature
from ..syntax.collection import last_name
from ..syntax.definitions import is_definition
from ..syntax.imports import split_imports
from ..syntax.literals import expression, is_literal, value
from ..syntax.source import names_used, statements, unparse
from .asked import ARROW, FENCE, Reading
from .doctests import Before
from .doubt import FAILURE, is_mistaken, is_taken_back
from .in_line import asserted, leading_exception, leading_object, leading_value, states
from .shell import named, run_of
from .signature import parameters
from .stories import told

_SIGN = re.compile(rf"(?:#\s*+)?(?:->|==?>|{ARROW}|\b(?:returns|gives|raises|throws)\b)|(?<=\s)(?P<beside>#)")
"""Between a step and its result: `s.pop() -> 1`, `s.pop()  # raises IndexError`."""
_ASKS = re.compile(
    r"(?:get|is|has|can|peek|top|find|next|to|as|count|contains|size|len|str|list|repr|bool|sorted|sum)(?:_|\Z)"
)
"""Names of functions that are called for their result, not for an effect."""
_PLAIN = re.compile(r"True|False|None|-?[\d.]+|\[.*\]")
"""Literals that `print` shows as they are written."""
_PRINTED = re.compile(r"(?!\s|.*\.\.\.)[^#'\"`<>()\[\]{}\\…→]+")
"""A line of output without indentation, quotes or a remark."""
_HEADS_OUTPUT = re.compile(r"(?i)(?!.*\bformat\b)(?:.*:[*_`\s]*|\W*+\w++\W*+\w*+\W*+)\Z")
"""`Output:`, `It prints`: below a whole sentence about results there may be prose."""
_GIVEN = re.compile(r"(?i)(?!.*\b(?:format|file)\b).*\b(?:input|stdin|given|text)\b")
_SAMPLE = re.compile(r"(?i)\b(?:samples?|examples?|this|given|with)\b")
_COMES = re.compile(r"(?i)\b(?:(?:output|stdout|prints|result|returns|gives|becomes)\b|as:?\Z)")
_COMMAND = re.compile(r"`(?:\$ )?(python3? user_code\.py[^`\n]*+)`")
_WITH_ARGUMENTS = re.compile(r"(?i)\bargv\b|\barguments?\b|\soptions?\b|\s--\w|\.py [\w<-]")
_LONGEST = 30
"""Lines of an example."""
_FARTHEST = 3
"""Lines from a heading to its example."""
_MOST_SIGNS = 10
_INDENTED = 4
"""Spaces before a line of code in Markdown, which goes on below a blank line."""


def set_up(lines: Sequence[str], doubtful: Sequence[bool], signature: Signature | None) -> list[Reading]:
    """Return checks in code blocks, each with the statements before it that it needs."""
    found: list[Reading] = []
    for start, block in [*_blocks(lines, signature), *told(lines, signature)]:
        tells = _tells_results(block)
        below = start + len(block)
        shown = _with_output(block, lines[below : below + _LONGEST])
        as_code = [_as_code(line, tells, signature) for line in shown]
        failing = (n for n, line in enumerate(as_code) if FAILURE.search(line))
        as_code = as_code[: next(failing, None)]
        ends = range(len(as_code), max(0, len(as_code) - _LONGEST), -1)  # prose may follow
        parsed = (statements(textwrap.dedent("\n".join(as_code[:end]))) for end in ends)
        body = next(filter(None, parsed), [])
        own = {node.name for node in body if is_definition(node)}
        if any(doubtful[start : start + 2]) or (own and (signature is None or signature.name in own)):
            continue
        before = Before()
        as_shown = block == lines[start : start + len(block)]
        for node in body:
            if signature and any(each.name == signature.name for each in split_imports(node)):
                continue
            try:
                setup = before.needed(names_used(node))
            except ValueError:
                break
            check = ast.Assert(node.value) if isinstance(node, ast.Expr) and states(node.value) else node
            whole = isinstance(check, ast.With) and any(isinstance(inner, ast.Assert) for inner in ast.walk(check))
            raising = isinstance(check, ast.With) and last_name(check.items[0].context_expr) == "raises"
            alone = shown is block and not block[node.lineno - 1].lstrip().startswith("print(")
            if whole or raising or ((setup or not alone) and isinstance(check, ast.Assert)):
                code = "\n".join(unparse(statement) for statement in [*setup, check])
                line = start + (node.lineno - 1 if as_shown else 0)
                said = lines[line].partition("#")[2] if as_shown else ""
                if not (doubtful[line] or is_taken_back(said) or is_mistaken(said, _PLAIN)):
                    found.append((code, lines[line].strip(), line))
            before.add(_effects(node))
    return found


def samples(lines: Sequence[str], signature: Signature | None) -> Iterator[Reading]:
    """Yield checks of an input and its output, each a block below a line that says so (`Sample input:`, `it
    prints:`), for a program or a function of one text."""
    given, lines = "", named(lines)
    wanted = parameters(signature) if signature else None
    takes_text = wanted and [getattr(each.annotation, "id", "str") for each in wanted.args] == ["str"]
    default = None if _WITH_ARGUMENTS.search("\n".join(lines)) else ["", f"python {PROGRAM_FILE}"]
    for start, block in sorted(_blocks(lines, None)):
        text = textwrap.dedent("\n".join(block)).strip("\n")
        if FENCE.match(text):
            continue
        above = reversed(lines[max(0, start - 3) : start])
        label = next((line for line in above if line.strip(" `~")), "").strip()
        after = next(filter(str.strip, lines[start + len(block) :]), ":").rstrip()
        # A blank line may be one of the text's own.
        whole = after.endswith(":") or FENCE.match(after) or _depth(after) < _depth(block[0])
        command = _COMMAND.search(label) or default
        if not _COMES.search(label):
            shown = FENCE.match(lines[start - 1]) or _SAMPLE.search(label)  # not a description of the input
            given = text if whole and shown and _GIVEN.match(label) else ""
        elif given and signature and takes_text and (stated := value(text)):
            yield asserted(f"{signature.name}({given!r})", stated), label.strip(), start
        elif given and not signature and whole and command and (run := run_of(command[1], f"{given}\n")):
            yield f"{run}\nassert done.stdout.rstrip('\\n') == {text!r}", label.strip(), start


def printed_below(lines: Sequence[str], signature: Signature | None) -> Iterator[Reading]:
    """Yield checks of a call's output, shown below a line such as `countdown(3) prints`, without trailing
    blanks."""
    name = re.escape(signature.name) if signature else "(?!)"
    says = re.compile(rf"\W*(?P<call>{name}\([^\n]*\))`?\s+(?:should |must )?(?:prints?|outputs?|shows?)\W*")
    for number, line in enumerate(lines):
        match = says.fullmatch(line)
        shown = _first_shown(lines[number + 1 : number + _LONGEST]) if match else []
        told = any(re.search(r"\w \w+ \w|[.:]$", each.rstrip()) for each in shown)  # prose
        if match and shown and not told and expression(match["call"]):
            texts = textwrap.dedent("\n".join(map(str.rstrip, shown))).split("\n")
            printed = "[line.rstrip() for line in capsys.readouterr().out.rstrip().splitlines()]"
            yield f"{match['call']}\nassert {printed} == {texts!r}", line.strip(), number


def _blocks(lines: Sequence[str], signature: Signature | None) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield code blocks with their first line: between fences, below a line of prose that ends with a colon, and
    below a blank line or the end of a sentence (`s = Stack()`)."""
    fences = [index for index, line in enumerate(lines) if FENCE.match(line)]
    for start, end in zip(fences[::2], fences[1::2], strict=False):
        yield start + 1, lines[start + 1 : end]
    depths = [*map(_depth, lines)]
    for index, line in enumerate(lines):
        start = index + 1
        heads = line.rstrip().endswith(":") and not statements(f"{line.strip()} pass")
        heads |= depths[start : start + 1] == [-1] and depths[start + 1 : start + 2] >= [depths[index] + 4]
        if line.strip() and not heads and not line.rstrip().endswith("."):
            continue
        while heads and depths[start : start + 1] == [-1] and start < index + _FARTHEST:
            start += 1
        end = start
        least = max(*depths[start : start + 1], depths[index], 0)
        while end < min(len(lines), start + _LONGEST) and (
            depths[end] >= least
            or (depths[end] == -1 and least >= _INDENTED and depths[end + 1 : end + 2] >= [_INDENTED])
        ):
            end += 1
        block = lines[start:end]
        if block and (heads or _makes(block, signature)):
            yield start, block


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else -1


def _makes(block: Sequence[str], signature: Signature | None) -> bool:
    """Return True if `block` begins with a statement and uses the entry point."""
    if signature is None or not re.match(
        r"\s*(?:\w+ = \S|from \w+ import\b|import \w+\s*\Z|with pytest\.)", block[0]
    ):
        return False
    used = f"{signature.name}(" if signature.kind == "function" else f"= {signature.name}("
    return any(used in line for line in block)


def _with_output(block: Sequence[str], after: Sequence[str]) -> Sequence[str]:
    """Return `block` with each `print` as an assertion, where a line of output for each is below it."""
    prints = [index for index, line in enumerate(block) if line.lstrip().startswith("print(")]
    below = [*block[max(prints, default=0) + 1 :], *after]
    label, *rest = [*dropwhile(lambda line: not is_shown(line), below), ""]
    shown = _first_shown(rest)
    heads = _HEADS_OUTPUT.match(label) and _COMES.search(label) and not is_mistaken(label, _COMES)
    if not heads or not prints or len(shown) != len(prints):
        return block
    shown = textwrap.dedent("\n".join(map(str.rstrip, shown))).split("\n")
    made = {index: _printing(block[index], line) for index, line in zip(prints, shown, strict=True)}
    return block if None in made.values() else [made.get(index) or line for index, line in enumerate(block)]


def _printing(line: str, shown: str) -> str | None:
    """Return the assertion that the `print` in `line` shows `shown`; None where that is not certain."""
    stated = expression(shown) if is_literal(shown) and shown[0] in "[({" else None
    sets = [each for each in ast.walk(stated or ast.Pass()) if isinstance(each, ast.Set)]  # in no certain order
    certain = _PRINTED.fullmatch(shown) if stated is None else not sets
    shown = shown if stated is None else str(ast.literal_eval(stated))
    match expression(line.strip()):
        case ast.Call(args=[asked], keywords=[]) if certain and not isinstance(asked, ast.Starred):
            indent = line[: len(line) - len(line.lstrip())]
            return f"{indent}assert str({unparse(asked)}) == {shown!r}"
    return None


def is_shown(line: str) -> bool:
    """Return True for a line that is neither blank nor a fence."""
    return bool(line.strip()) and not FENCE.match(line)


def _first_shown(lines: Sequence[str]) -> list[str]:
    return [*takewhile(is_shown, dropwhile(lambda line: not is_shown(line), lines))]


def _tells_results(block: Sequence[str]) -> bool:
    """Return True if the comments of `block` are return values of calls, not states of an object: some functions
    always have one, and others never."""
    beside, without = set[str | None](), set[str | None]()
    for line in block:
        code, *comments = re.split(r"\s#", line, maxsplit=1)
        said = re.sub(r"^\W*(?:returns|gives)\b", "", "".join(comments)).lstrip("-=> ")
        steps = [node.value for node in statements(code.strip()) if isinstance(node, ast.Expr)]
        for call in (step for step in steps if isinstance(step, ast.Call)):
            (beside if call is steps[-1] and leading_value(said) else without).add(last_name(call))
    return bool(without) and not beside & without


def _as_code(line: str, tells: bool = False, signature: Signature | None = None) -> str:
    """Return `step -> value` as a comparison, `step -> Error` as a `raises` block, other lines as they are. A
    comment is a step's result where the step has no effect, or if `tells`."""
    for number, sign in enumerate(_SIGN.finditer(line)):
        node = expression(line[: sign.start()])
        if number == _MOST_SIGNS or isinstance(node, ast.Constant | ast.BoolOp):
            break
        if node is not None:
            indent = line[: len(line) - len(line.lstrip())]
            return f"{indent}{_check(node, sign, line[sign.end() :], tells, signature) or line.strip()}"
    return line


def _check(node: ast.expr, sign: re.Match[str], said: str, tells: bool, signature: Signature | None) -> str | None:
    """Return the check that `node` has the result `said`; None where that is not certain."""
    step = unparse(node)
    stated = leading_value(said) or leading_object(said, signature)
    if stated is None:
        verb = "raises" if sign[0].endswith(("raises", "throws")) else ""
        raised = leading_exception(f"{verb} {said}")
        return f"with pytest.raises({raised}): {step}" if raised else None
    if isinstance(node, ast.Call) and last_name(node) == "print":
        return _printing(step, stated) if _PLAIN.fullmatch(stated) else None
    function = signature.name if signature and signature.kind == "function" else None
    asks = not isinstance(node, ast.Call) or last_name(node) == function or _ASKS.match(last_name(node))
    if sign["beside"] and not tells and not asks:
        return None
    if isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp) and stated in ("True", "False"):
        return f"assert {step if stated == 'True' else f'not ({step})'}"
    return asserted(step, stated)


def _effects(node: ast.stmt) -> list[ast.stmt]:
    """Return the parts of `node` that later statements may need: of a check, a call that may change an object."""
    checked = node.test if isinstance(node, ast.Assert) else node.value if isinstance(node, ast.Expr) else None
    if isinstance(checked, ast.Compare):
        checked = checked.left
    elif checked is None or isinstance(node, ast.Expr):
        return [node]
    asked = [inner for inner in ast.walk(checked) if isinstance(inner, ast.Call)]
    acts = any(isinstance(call.func, ast.Attribute) or ast.Name in map(type, call.args) for call in asked)
    return [ast.Expr(checked)] if acts else []
