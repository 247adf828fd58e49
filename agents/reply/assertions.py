"""unittest's assertions as plain `assert` and `pytest.raises`, and classes of tests as functions."""

from __future__ import annotations

import ast
import copy

from ..syntax.collection import last_name
from ..syntax.source import names_bound, parse

_Function = ast.FunctionDef | ast.AsyncFunctionDef

_PLAIN = {
    **dict.fromkeys(
        ("assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertSetEqual", "assertTupleEqual",
         "assertSequenceEqual", "assertMultiLineEqual"), "{0} == {1}"
    ),
    "assertNotEqual": "{0} != {1}",
    "assertTrue": "{0}",
    "assertFalse": "not {0}",
    "assertIs": "{0} is {1}",
    "assertIsNot": "{0} is not {1}",
    "assertIsNone": "{0} is None",
    "assertIsNotNone": "{0} is not None",
    "assertIn": "{0} in {1}",
    "assertNotIn": "{0} not in {1}",
    "assertIsInstance": "isinstance({0}, {1})",
    "assertNotIsInstance": "not isinstance({0}, {1})",
    "assertGreater": "{0} > {1}",
    "assertGreaterEqual": "{0} >= {1}",
    "assertLess": "{0} < {1}",
    "assertLessEqual": "{0} <= {1}",
    "assertAlmostEqual": "round(abs({0} - {1}), {places}) == 0",
    "assertCountEqual": "sorted({0}) == sorted({1})",
    "assertRegex": "re.search({1}, {0})",
}  # fmt: skip
_SETUP = frozenset({"setUp", "setup_method", "setup"})


def functions_of(node: ast.ClassDef) -> list[ast.stmt]:
    """The tests of a class as functions of their own; the class itself where they share more than plain set-up."""
    if node.decorator_list or any(last_name(base) not in {"TestCase", "object"} for base in node.bases):
        return [node]
    found: list[ast.stmt] = []
    shared: list[ast.stmt] = []
    start: list[ast.stmt] = []
    methods: list[_Function] = []
    for item in copy.deepcopy(node.body):
        if isinstance(item, ast.Assign):
            shared.append(item)
        elif isinstance(item, _Function) and item.name in _SETUP:
            start.extend(item.body)
        elif isinstance(item, _Function) and item.name.startswith("test"):
            methods.append(item)
        elif not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)):
            return [node]
    for method in methods:
        if not method.args.args or method.args.args[0].arg != "self":
            return [node]
        del method.args.args[0]
        body = _flat(copy.deepcopy(shared), [*copy.deepcopy(start), *method.body])
        if body is None:
            return [node]
        method.body = body
        found.append(ast.fix_missing_locations(method))
    return found or [node]


def plain(node: ast.stmt) -> ast.stmt:
    """`node` with `try: ... except` checks of an exception written as `pytest.raises` blocks."""
    made = _Expected().visit(copy.deepcopy(node))
    assert isinstance(made, ast.stmt)
    return ast.fix_missing_locations(made)


def _flat(shared: list[ast.stmt], body: list[ast.stmt]) -> list[ast.stmt] | None:
    """A method's body without `self`, after the class's own assignments; None where it needs its instance."""
    converter = _Converter()
    own = {name for statement in body for name in names_bound(statement)}
    flat: list[ast.stmt] = []
    for statement in body:
        converted = converter.visit(statement)
        flat.extend(converted if isinstance(converted, list) else [converted])
    if any(name.id == "self" for name in _names(flat)) or converter.attributes & own:
        return None
    read = {name.id for name in _names(flat) if isinstance(name.ctx, ast.Load)}
    idle = [
        s
        for s in flat
        if isinstance(s, ast.Assign) and names_bound(s) and not names_bound(s) & read and not _calls(s)
    ]
    return [
        *(statement for statement in shared if names_bound(statement) & read),
        *(s for s in flat if s not in idle),
    ]


def _names(body: list[ast.stmt]) -> list[ast.Name]:
    return [inner for statement in body for inner in ast.walk(statement) if isinstance(inner, ast.Name)]


def _calls(node: ast.stmt) -> bool:
    return any(isinstance(inner, ast.Call) for inner in ast.walk(node))


class _Converter(ast.NodeTransformer):
    """Replaces `self.assertX(...)`, and `self.name` by a local `name`."""

    def __init__(self) -> None:
        self.attributes: set[str] = set()

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if not (isinstance(call, ast.Call) and _is_self(call.func)):
            return self.generic_visit(node)
        name = last_name(call)
        if name.startswith("assertRaises") and len(call.args) > 1:
            regex = "Regex" in name
            function = call.args[2 if regex else 1] if len(call.args) > (2 if regex else 1) else None
            if function is None:
                return node
            inner = ast.Call(func=function, args=call.args[3 if regex else 2 :], keywords=call.keywords)
            item = ast.withitem(context_expr=_raises(call.args[: 2 if regex else 1]), optional_vars=None)
            return self.generic_visit(ast.With(items=[item], body=[ast.Expr(value=inner)]))
        if name == "fail":
            return parse("assert False").body[0]
        template = _PLAIN.get(name)
        wanted = 2 if template and "{1}" in template else 1
        if (
            template is None
            or len(call.args) < wanted
            or any(k.arg not in {"msg", "places"} for k in call.keywords)
        ):
            return self.generic_visit(node)
        return self.generic_visit(_asserted(template, call, wanted))

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        for item in node.items:
            call = item.context_expr
            if isinstance(call, ast.Call) and _is_self(call.func):
                if last_name(call) in {"assertRaises", "assertRaisesRegex"} and call.args:
                    item.context_expr = _raises(call.args)
                elif last_name(call) == "subTest" and len(node.items) == 1:
                    body = [self.visit(statement) for statement in node.body]
                    return [s for part in body for s in (part if isinstance(part, list) else [part])]
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and not node.attr.startswith("assert"):
            self.attributes.add(node.attr)
            return ast.Name(id=node.attr, ctx=node.ctx)
        return self.generic_visit(node)


def _is_self(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "self"
    )


def _raises(arguments: list[ast.expr]) -> ast.Call:
    keywords = [ast.keyword(arg="match", value=arguments[1])] if len(arguments) > 1 else []
    function = ast.Attribute(value=ast.Name(id="pytest", ctx=ast.Load()), attr="raises", ctx=ast.Load())
    return ast.Call(func=function, args=arguments[:1], keywords=keywords)


def _asserted(template: str, call: ast.Call, wanted: int) -> ast.Assert:
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    extra = call.args[wanted:]
    places: ast.expr = ast.Constant(value=7)
    if "{places}" in template:
        places = options.get("places") or (extra[0] if extra else places)
        extra = extra[1:]
    values = [f"({ast.unparse(argument)})" for argument in call.args[:wanted]]
    test = parse(template.format(*values, places=ast.unparse(places))).body[0]
    assert isinstance(test, ast.Expr)
    return ast.Assert(test=test.value, msg=options.get("msg") or (extra[0] if extra else None))


class _Expected(ast.NodeTransformer):
    """Replaces `try: call(); assert False` / `except Error: pass` by `with pytest.raises(Error): call()`."""

    def visit_Try(self, node: ast.Try) -> ast.AST:
        if len(node.handlers) != 1 or node.finalbody or node.handlers[0].type is None:
            return node
        handler = node.handlers[0]
        failing = [statement for statement in [*node.body, *node.orelse] if _fails(statement)]
        called = [statement for statement in node.body if not _fails(statement)]
        if len(failing) != 1 or len(called) != 1 or not all(_is_idle(statement) for statement in handler.body):
            return node
        assert handler.type is not None
        item = ast.withitem(context_expr=_raises([handler.type]), optional_vars=None)
        return ast.With(items=[item], body=called)


def _fails(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assert):
        return isinstance(node.test, ast.Constant) and not node.test.value
    return isinstance(node, ast.Expr) and last_name(node.value) == "fail"


def _is_idle(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assert):
        return isinstance(node.test, ast.Constant) and bool(node.test.value)
    return isinstance(node, ast.Pass)
