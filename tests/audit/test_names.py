"""The names that a change gives to code, and tests written with them."""

from __future__ import annotations

from pathlib import Path

from agents.audit.names import renames, with_names
from agents.worktree.tree import Tree

CODE = "def first():\n    return 1\n\n\ndef split(a, b):\n    return a // b\n\n\n"
CODE += "class Cart:\n    def total(self):\n        return 2\n"


def tree(**files: str) -> Tree:
    return Tree(Path(), {path.replace("__", "/") + ".py": text.encode() for path, text in files.items()})


def test_what_stands_in_the_same_place_or_has_the_same_text_is_the_same_definition() -> None:
    new = (
        CODE.replace("split", "divide").replace("a // b", "0").replace("total", "amount").replace("Cart", "Basket")
    )
    assert renames(tree(a=CODE), tree(a=new)) == {"split": "divide", "total": "amount", "Cart": "Basket"}
    moved = "def part(a, b):\n    return a // b\n\n\n" + CODE.replace("def split(a, b):\n    return a // b\n", "")
    assert renames(tree(a=CODE), tree(a=moved)) == {"split": "part"}


def test_a_name_that_is_still_there_or_that_two_could_have_taken_is_not_renamed() -> None:
    assert renames(tree(a=CODE), tree(a=CODE.replace("split", "divide") + "\n\nsplit = divide\n")) == {}
    two = CODE.replace("def split(a, b):", "def one(a):\n    return 1\n\n\ndef divide(a, b):\n    b += 1")
    assert renames(tree(a=CODE), tree(a=two)) == {}
    assert (
        renames(tree(a=CODE, tests__test_a="def f(split):\n    pass\n"), tree(a=CODE.replace("split", "x"))) == {}
    )


def test_modules_and_packages_are_renamed_by_what_they_define() -> None:
    assert renames(tree(shop__money=CODE), tree(shop__prices=CODE)) == {"money": "prices"}
    old, new = tree(shop__a=CODE, shop____init__=""), tree(store__a=CODE, store____init__="")
    assert renames(old, new) == {"shop": "store"}
    assert renames(tree(src__shop__a=CODE), tree(lib__shop__a=CODE)) == {"src": "lib"}


def test_names_and_paths_of_names_in_tests_are_written_anew_and_no_other_text() -> None:
    text = "from shop.money import split\n\n\ndef test_split(patch):\n"
    text += '    patch("shop.money.split")\n    assert split("split a")\n'
    made = with_names(tree(shop__a=text, tests__test_a=text), {"split": "divide", "money": "prices"})
    assert made.files["shop/a.py"] == text.encode()
    assert made.files["tests/test_a.py"].decode() == (
        "from shop.prices import divide\n\n\ndef test_split(patch):\n"
        '    patch("shop.prices.divide")\n    assert divide("split a")\n'
    )
