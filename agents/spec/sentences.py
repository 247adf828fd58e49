"""The sentences of a text, split also at semicolons and before the next call of a list."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from .bounds import RANGE, WANTED

QUOTED = re.compile(r"(?<!\w)(?:'[^'\n]{0,40}'|\"[^\"\n]{0,40}\"|``[^`\n]{1,60}``|`[^`\n]{1,60}`)(?!\w)")
SUCH_AS = re.compile(rf"\b(?:such as|like) (?:{QUOTED.pattern}(?:,? (?:or |and )?)?)+")
_SHORT_FORMS = re.compile(r"(?:\b(?:[Ee]\.g|[Ii]\.e|etc|vs|cf|approx|incl)|\s\.\.)\.$")
_END = re.compile(
    r"[.!?][\"'`)]*\s+(?=[\"'`(]?[A-Za-z0-9`_{\\[])|(?<!&lt)(?<!&gt)(?<!&amp)(?<!&quot)(?<!\s);\s+|\n|,\s+(?:and\s+)?(?=[a-z_]\w*\()"
)
_ACTS = re.compile(r"`?[a-z_]\w*\([^()\n]{0,60}\)`?\s+[a-z]+s\b")
"""`push(x) adds`: each method in a list is a part of its own."""
TO_CHANGE = r"(?:modif|chang|mutat|alter|touch)\w*"
"""Verbs for what is done to an argument."""
_UNCHANGED = re.compile(
    rf"(?i)(?:\b(?:not|never|without|nor)|n't)\s+(?:be\s+)?{TO_CHANGE}"
    r"|\b(?:unchanged|untouched|unmodified|intact)\b|\bleav\w+ [^,]{1,40} (?:alone\b|as (?:it|they)\b)"
    rf"|\bneither [^,]{{1,40}}{TO_CHANGE}"
)

VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|must|may|can|will|do|does|should|remain"
    r"|(?:appear|begin|belong|contain|count|end|follow|get|go|keep|mean|return|stand|start|stay|win)(?:e?s)?"
    r"|(?:becom|com|giv|mak|rais|tak)(?:e|e?s)"
    r"|(?:add|cost|fail|leav|matter|mov|need|remov|rotat|say|set|show|us|yield)e?s)\b"
)
"""A verb as rules have it; those that may be nouns (`a set`, `the use`) only with `s`."""
STATES = re.compile(
    rf"(?i)(?!(?:you|which|that|who|or|[\w.'\"-]+ (?:if|when|for))\b|{VERB.pattern})"
    rf"(?:(?:if|when|for|with|in|of)\b.*?|(?:[\w'-]+ ){{1,6}}?){VERB.pattern}"
)
"""A subject and a verb."""
_SPLICED = re.compile(
    r"(?i)(?!(?:and|or|nor|but|so|then|also|just|even|not|it|they|i|we|you|after|as|because|before|given|however|if|since"
    r"|once|spelled|unless|until|when|whenever|where|while|with|no matter)\b)"
    rf"(?!{VERB.pattern})(?:(?!(?:that|which|whose?|given|if|when|where)\b)[^\s,.;:()]+ ){{1,8}}?{VERB.pattern}"
)
"""A statement behind a comma alone: `Letters stay, the rest is left out`."""
_NEAR = 300
"""Characters of a part that are searched."""
CONDITION = re.compile(
    r"(?i)\s*(?:if|when|whenever|for|with|without|on|where|unless|given|otherwise|you (?:can|may))\b"
)
"""The beginning of a condition."""
_ACT = re.compile(
    r"(?i)(?:convert|count|don't|drop|give|ignore|join|keep|merge|must|never|no|raise|remove|replace|return|round|skip"
    r"|sort|split|strip|swap|throw|treat|trim|turn|use)\b"
)
"""The beginning of a statement without a subject."""
_OTHERS = re.compile(r"(?i)(?:(?:any|every)(?:thing|one|body) else|(?:the|all) (?:rest|others?))\b")
EXCEPTION = re.compile(
    r"\b(?:[A-Z]\w*(?:Error|Exception|Warning)|StopIteration|StopAsyncIteration|SystemExit)\b"
    r"|(?:(?<=[Rr]aise )|(?<=raises )|(?<=raising )|(?<=throws )|(?<=raise `)|(?<=raises `))"
    r"(?!None\b|True\b|False\b|The\b|An?\b|If\b|It\b|When\b)[A-Z][a-z]+[A-Za-z]*\b"
)
"""An exception, by its usual ending, or the spec's own after `raises`: `raises InsufficientFunds`."""
_RAISE = re.compile(
    r"(?i)(?:,\s*)?\b(?:and|but|or|otherwise),?\s+(?:it\s+)?(?:must\s+|should\s+|to\s+|never\s+)?"
    r"(?:rais|throw)(?:es?|ing|s)?\b(?! out\b)"
)
_RAISES_ALONE = re.compile(r" (?:an? )?`?[A-Z]\w*`?(?: exception| too| as well)?[ .;]*\Z")
"""A raise without a condition: `Negative amounts are wrong and raise ValueError` is one clause."""
_BESIDE_A_RAISE = re.compile(
    r"(?:(?<=Error)|(?<=Error\)))(?: too| as well)?,? (?:and |(?=as (?:do|does|is|are)\b))"
    r"(?P<beside>(?!(?:an? )?[A-Z]\w*Error)(?!(?:it )?(?:rais|throw)).{8,})"
)
_ANSWERS = re.compile(
    r"\b(?:gives?|returns?|stays?|yields?|becomes?|counts|count as|wins?|goes|gets?|keeps?|means?|written"
    r"|(?:result|answer|output) is)\b"
)
_SAYS_ALONE = re.compile(rf"(?!.*\b(?:that|which|whose?)\b).*?{VERB.pattern}")
"""A verb that is not in a relative clause: `a digit that is odd, or a letter, raises` has none before `raises`."""
ERROR = re.compile(r"\b(?:rais|throw)(?:es?|ing|s)?\b(?! out\b)|[Ee]rrors?\b")
_OTHER_CONDITION = re.compile(r"(?:, (?:and |or )?| and | or )(?=(?:if|for|when)\b)")
_ALSO = re.compile(r"\b(?:and|or) (?:if|for|when)\b")
"""`ValueError for a name that occurs twice, and for cycles`: each condition is a clause."""
_UNMET = re.compile(
    r"(?i)(?:(?P<otherwise>otherwise|(?:or )?else)|any(?:thing)? (?:other|else|outside|out of))\b"
    r".{0,40}?(?:\brais|\bthrow|Error)"
)
"""What raises where the requirement before it is not met: `n must be 1 or more; otherwise raise ValueError`."""
_ROOM = 15
_OPEN = re.compile(
    r"(?i)(?:[,(\[{&+/–-]|\b(?:an?|the|and|or|but|nor|of|to|in|on|at|by|for|with|from|into|as|than|is|are|be|that|which"
    r"|if|when|not|no|its?|their|all|each|every|any|least|most|rais\w+|throws?|returns?))\Z"
)
"""The end of a line that goes on in the next one."""
_NOTE = re.compile(
    rf"(?!(?:And|Or|But|If|When)\b)[A-Z][a-z]*\b(?! ?\()|`?[a-z_]\w*+\(|(?:anything|otherwise)\b"
    rf"|{_ACT.pattern[4:]}|{_SPLICED.pattern[4:]}|[a-z][^.;]*(?:[=-]>|=|→|:) ?`?\w*(?:Error|None|True|False)\b"
)
"""The beginning of a line that is a statement of its own."""
_DEPENDS = re.compile(
    r"(?i)\b(?:if|when|whenever|where|unless|that|which|whose?|since|because|so|after|before|once|until|while|assum\w*"
    r"|either|neither|both|as (?:soon|long))\b"
)
"""Words of a part that may go on behind a comma."""


def apart(sentence: str) -> Iterator[str]:
    """Yield the parts of a sentence joined by `, and` or a comma, where each is a statement of its own, or one is
    about unchanged arguments: a test of one part does not show the other."""
    masked = _masked(sentence)
    place = seen = depth = 0
    for end in re.finditer(", (?P<joined>and )?", masked):
        depth += masked.count("(", seen, end.start()) - masked.count(")", seen, end.start())
        seen = end.start()
        before = masked[max(place, seen - _NEAR) : seen]
        after = masked[end.end() : end.end() + _NEAR].split(", and " if end["joined"] else ", ")[0]
        unchanged = len({bool(_UNCHANGED.search(each)) for each in (before, after)}) == 2
        case = CONDITION.match(masked, place) and not CONDITION.match(after)
        if end["joined"]:
            says = unchanged or (STATES.match(after) and not case)
        else:
            says = _SPLICED.match(after) and not (case or _DEPENDS.search(before))
            if not _OTHERS.match(after):
                before = before.rpartition(", ")[2]  # an item of a list says nothing
        told = VERB.search(before) or _ACT.match(before) or (unchanged and end["joined"])
        if not depth and says and told:
            yield sentence[place:seen]
            place = end.end()
    yield sentence[place:]


def raising_apart(sentence: str) -> Iterator[str]:
    """Yield `sentence`, split where its end is a statement of its own on an exception, or beside one."""
    beside = _BESIDE_A_RAISE.search(sentence)
    if beside:
        yield from raising_apart(sentence[: beside.start()].rstrip(" ,;"))
        sentence = beside["beside"]
    raising = _RAISE.search(sentence)
    before, _, after = sentence.rpartition(", ")
    alone = not is_unmet(before, after) and _SAYS_ALONE.match(before) and STATES.match(after)
    says = _ANSWERS.search(before) or alone
    if raising and raising.start() > 12 and not _RAISES_ALONE.match(sentence, raising.end()):
        before, after = sentence[: raising.start()], sentence[raising.start() :]
    elif not says or EXCEPTION.search(before) or not ERROR.search(after):
        before = ""
    # `if it is full, the oldest goes, and an odd one is a ValueError`
    joined = not raising and after.startswith("and ")
    if before and (joined or not CONDITION.match(sentence)):
        yield before.rstrip(" ,;.")
        sentence = re.sub(r"^(?:and|but|or)\s+", "", after.lstrip(" ,"))
    first, *others = _OTHER_CONDITION.split(sentence)
    if others and EXCEPTION.search(first) and _ALSO.search(sentence) and not any(map(_ANSWERS.search, others)):
        yield first
        yield from (f"or {each.rstrip(' .')}" for each in others)
    elif not sentence.endswith(":"):
        yield sentence.rstrip(" ;.")


def is_unmet(before: str, after: str) -> bool:
    """Return True if `after` says what raises where the requirement `before` is not met."""
    unmet = _UNMET.match(after)
    wanted = unmet is not None and (RANGE.search(before) or (unmet["otherwise"] and WANTED.search(before)))
    return bool(wanted) and not _ANSWERS.search(before)


def notes(lines: Sequence[str]) -> Iterator[str]:
    """Yield the text of a paragraph: one, or several where its lines are broken before they are full, and a line
    begins a statement of its own."""
    pairs = [*pairwise(lines)]
    room = max(map(len, lines)) - _ROOM
    short = any(len(line) + len(below.split(" ")[0]) < room and line[-1] not in ".,:;!?" for line, below in pairs)
    text = lines[0]
    for line, below in pairs:
        if short and not _OPEN.search(line) and _NOTE.match(below):
            yield text
            text = below
        else:
            text = f"{text}\n{below}"
    yield text


def meant_quotations(said: str, names: Collection[str]) -> str:
    """Return `said` without quotations that no test has to have: illustrations (`names such as "a.log"`) are
    removed; layouts, made of words beside them (`for a key it is "+key"`) or of `names`, lose their quotes."""
    said = SUCH_AS.sub("", said)
    known = {*re.findall(r"\w+", QUOTED.sub(" ", said).lower()), *names}
    for quoted in QUOTED.findall(said):
        text = quoted.strip("`'\"")
        if re.fullmatch(r"(?=.*\w)(?=.*[^\w\s])\D*", text) and known.issuperset(re.findall(r"\w+", text.lower())):
            said = said.replace(quoted, text)
    return said


def quoted_texts(said: str) -> list[str]:
    """Return the texts that are quoted in `said`, without their quotes."""
    return [each.strip("`'\"") for each in QUOTED.findall(said)]


def _masked(text: str) -> str:
    """Return a text of the same length without punctuation in quotations."""
    return QUOTED.sub(lambda match: "x" * len(match[0]), text)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of `text`; punctuation in quotes or brackets ends none."""
    masked = _masked(text)
    place = seen = depth = 0
    for end in _END.finditer(masked):
        part, seen = masked[seen : end.start()], end.start()
        depth += sum(map(part.count, "([")) - sum(map(part.count, ")]"))
        listed = _ACTS.match(masked, place) and _ACTS.match(masked, end.end())
        short = end[0][0] == "." and _SHORT_FORMS.search(masked[max(place, seen - 12) : seen + 1])
        if depth <= 0 and not short and (listed or end[0][0] != ","):
            yield text[place : seen + 1]
            place, depth = end.end(), 0
    yield text[place:]
