"""The entry point that a spec names."""

# ruff: noqa: E501 - specs are shown as they are

from __future__ import annotations

import pytest

from agents.spec.shell import asks_for_a_program
from agents.spec.signature import found, stated

SPECS = {
    "Implement quicksort(arr: list[int]) -> list[int] that returns a new sorted list. Do not use sorted(arr).": (
        "def quicksort(arr: list[int]) -> list[int]"
    ),
    "slugify(text: str) -> str that lowercases, ascii-folds, replaces spaces with dashes": "def slugify(text: str) -> str",
    "Write `is_valid_sudoku(board: list[list[int]]) -> bool`, zero = empty.": (
        "def is_valid_sudoku(board: list[list[int]]) -> bool"
    ),
    "Implement f(a: int, b: str = 'x, y') -> dict[str, list[int]] | None. It is fast.": (
        "def f(a: int, b: str='x, y') -> dict[str, list[int]] | None"
    ),
    "Write a function `add(a, b)` that adds. For example add(1, 2) == 3.": "def add(a, b)",
    "Implement now() -> float.": "def now() -> float",
    "Implement `async def fetch(url: str) -> bytes` with retries.": "async def fetch(url: str) -> bytes",
    "Sort the list:\n\n```python\ndef order(xs: list) -> list:\n    ...\n```\n": "def order(xs: list) -> list",
    "Sort the list:\n\n    def order(xs: list) -> list:\n\nIt must be stable.": "def order(xs: list) -> list",
    "import math\n\ndef half(x):\n    return x / 2\n\ndef quarter(x: float):\n    \"\"\"A quarter of x.\"\"\"\n": (
        "def quarter(x: float)"
    ),
    "Write a class Stack with push(item: int) -> None and pop() -> int.": "class Stack",
    "Implement a `LRUCache` class that holds n entries: get(key) and put(key, value).": "class LRUCache",
    "```python\nclass Queue(Base):\n    def push(self, x): ...\n    def pop(self): ...\n```": "class Queue(Base)",
    "class Account:\n    def deposit(self, amount: int) -> None:\n        \"\"\"Adds.\"\"\"\n": "class Account",
}  # fmt: skip


@pytest.mark.parametrize(("text", "header"), SPECS.items())
def test_the_entry_point_is_found(text: str, header: str) -> None:
    signature = found(text)
    assert signature is not None
    assert signature.text == header
    assert header.startswith(("class", "def", "async def"))
    assert signature.kind == ("class" if header.startswith("class") else "function")


@pytest.mark.parametrize(
    "text",
    [
        "Write something that sorts.",
        "Implement encode(s: str) -> str and decode(s: str) -> str.",
        "Make sure that print(x) is never called (really).",
        "It should work like f(1) == 2.",
        "Sort it (in place) as usual, e.g. call() it.",
        "Implement f(a b c).",
        "(((((((((((((((((",
        "Implement f(" * 300,
    ],
)
def test_nothing_and_two_things_are_no_entry_point(text: str) -> None:
    assert found(text) is None


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("slugify(text: str) -> str", "def slugify(text: str) -> str"),
        ("def slugify(text: str) -> str:", "def slugify(text: str) -> str"),
        ("class Stack", "class Stack"),
    ],
)
def test_a_signature_may_be_given_with_or_without_def(text: str, header: str) -> None:
    assert stated(text).text == header


def test_a_word_that_is_no_type_of_pythons_is_left_out() -> None:
    text = "Write f(a: text, b: number, c: date, d: np.ndarray, e: list[item]) -> iterator of str."
    signature = found(text)
    assert signature is not None
    assert signature.text == "def f(a, b, c: date, d: np.ndarray, e)"


@pytest.mark.parametrize("text", ["slugify", "slugify(text: str) ->", "x = 1", "def f(): pass\ndef g()", ""])
def test_what_is_no_signature_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="signature such as"):
        stated(text)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("A function median(numbers) that returns the middle value.", "def median(numbers)"),
        ("parse_duration(text) turns a duration into seconds.", "def parse_duration(text)"),
        ("A class LRUCache(capacity) that keeps entries. put(key, value) stores one.", "class LRUCache"),
        ("I need a class Inventory for a shop. remove(item, quantity=1) takes pieces out.", "class Inventory"),
        ("A mailing list has names(x) in it.", None),
        (
            "Given two texts, overlap(a, b) returns what they share, e.g. overlap('ab', 'b') == 'b'.",
            "def overlap(a, b)",
        ),
        ("A function that joins two lists: joined(a, b, key=None). It is stable.", "def joined(a, b, key=None)"),
        ("Numbers on a pile: push(x) returns nothing, pop() the last one.", None),
        ("Escape HTML. md(text) turns **bold** into <b>.", "def md(text)"),
        ("Given scores, return the best. `top(entries, n=3)`. Ties by name.", "def top(entries, n=3)"),
        ("Averages. mean_of(values, k) returns len(values) - k floats.", "def mean_of(values, k)"),
        (
            "Distance of strands. The function `distance(a, b)` raises ValueError if len(a) != len(b).",
            "def distance(a, b)",
        ),
        ("Polish notation. The entry point is evaluate(tokens). Tokens are strings.", "def evaluate(tokens)"),
        ("lru-like decorator `memoize(maxsize=128)`, with cache_info() on it.", "def memoize(maxsize=128)"),
        ("Context manager `kept(mapping, **changes)`: it sets keys.", "def kept(mapping, **changes)"),
        ("Write an async function `tried(calls)` in Python.", "async def tried(calls)"),
        ("A coroutine fetch(n) that waits.", "async def fetch(n)"),
        ("Write a generator function down(n) that yields.", "def down(n) -> Iterator"),
        ("An async generator ticks(n).", "async def ticks(n) -> AsyncIterator"),
        ("Write a password generator make(n) for me.", "def make(n)"),
        (
            "From: school office\nRe: marks\n\nPlease: grade_of(points, bonus) returns a letter.",
            "def grade_of(points, bonus)",
        ),
        ("Issue: split_bill loses cents\n\nsplit_bill(5, 2) has to be [3, 2].", "def split_bill(...)"),
        ("## price(kg: float) -> float\n\n| zone | price |\n|---|---|", "def price(kg: float) -> float"),
    ],
)
def test_a_spec_may_say_what_a_function_does_without_asking_for_it(text: str, header: str | None) -> None:
    signature = found(text)
    assert (signature and signature.text) == header


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("An LRU cache class LRUCache(capacity) with get(key) and put(key, value).", "class LRUCache"),
        ("A stack class Stack with push(x: int) -> None and pop().", "class Stack"),
        ("A Matrix class supporting addition.", "class Matrix"),
        ("Event emitter class EventEmitter with on(name, f) and emit(name, *args).", "class EventEmitter"),
        ("Simple event bus. class EventBus: subscribe(event, handler).", "class EventBus"),
        ("# Vending machine\n\nA class VendingMachine. insert(coin) adds money.", "class VendingMachine"),
        ("Provide a class for text statistics named TextStats(text). Methods: words().", "class TextStats"),
        ("Matrix: a class with add(other), multiply(other).", "class Matrix"),
        ("Implement TokenBucket(rate, capacity) with take(n) -> bool.", "class TokenBucket"),
        ("Token bucket: TokenBucket(rate, capacity), take(n) -> bool", "class TokenBucket"),
        ("Write MinStack: push(x) adds x.", "class MinStack"),
        ("Implement IsPalindrome(s: str) -> bool.", "def IsPalindrome(s: str) -> bool"),
        ("Implement FizzBuzz(n) that returns a list.", "def FizzBuzz(n)"),
        ("Write a function FizzBuzz(n).", "def FizzBuzz(n)"),
        ("# Depth\n\ndepth(tree: Tree) -> int of a tree. Class Tree has left and right.", "def depth(tree: Tree) -> int"),
        ("Write parse(text) that returns a Node(value, children).", "def parse(text)"),
        ("Write total(prices) that raises PriceError(text).", "def total(prices)"),
        ("Inventory class:\n  - add(sku, qty): adds\n  - remove(sku, qty): removes", "class Inventory"),
        ("A text buffer. TextBuffer(): insert(text, pos=None) inserts, undo() undoes.", "class TextBuffer"),
        ("Implement a Trie with insert(word), search(word) and delete(word).", "class Trie"),
        ("Design a store `KVStore` supporting `set(key, value)` and `get(key)`.", "class KVStore"),
        ("Job scheduler with class Scheduler. schedule(name) adds a job; cancel(name).", "class Scheduler"),
        ("Write code for a bank. The class is called Bank. It has open(name) and close(name).", "class Bank"),
        ("A traffic light. TrafficLight starts red. next() goes on.", "class TrafficLight"),
        ("An event log: Log.append(event, at), Log.last(n=1) newest first.", "class Log"),
        ("A queue of two stacks (class name MyQueue; methods push pop)", "class MyQueue"),
        ("Write a `Vector` dataclass (x: float) with `dot(other)`.", "class Vector"),
        ("Make an account simulator: BankAccount with open(), deposit(amount).", "class BankAccount"),
        ("Class `override(mapping, **values)`, a context manager.", "class override"),
        ("I want a class called `batched(items, n)` that I can loop over.", "class batched"),
        ("class Line:\n    cents: int\n\nWrite `total(lines: list[Line]) -> int` for it.", "def total(lines: list[Line]) -> int"),
        ("class Point:\n    x: int\n\nAdd a method dist(other).", "class Point"),
        ("Write a function that calls Board.play(row, col) twice.", None),
        ("Sort the students of class A by grade.", None),
        ("Convert class Diagram into text.", None),
        ("Write a LaTeX to text converter.", None),
    ],
)  # fmt: skip
def test_a_class_is_named_in_many_ways(text: str, header: str | None) -> None:
    signature = found(text)
    assert (signature and signature.text) == header


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("Write a function now() that returns the time.", "def now()"),
        ("A decorator @memoize that keeps results.", "def memoize(...)"),
        ("normalize_phone strips everything but digits.", "def normalize_phone(...)"),
        ("Fix shout(s), it must upper-case.", "def shout(s)"),
        ("Rewrite shout(s) so that it upper-cases.", "def shout(s)"),
        ("Quiz: what does `total([1, 2])` return? total(xs) returns the sum.", "def total(xs)"),
        ("Function name: second_largest. Input: a list.", "def second_largest(...)"),
        ("Function wanted: second(items) gives the second.", "def second(items)"),
        ("Given two lists, merge_sorted(a, b) merges them.", "def merge_sorted(a, b)"),
        ("The greatest common divisor of two numbers. gcd(a, b).", "def gcd(a, b)"),
        ("A stack with push_all(items). The class has a method pop_all().", None),
        ("Write a Python function called flatten that flattens lists.", "def flatten(...)"),
        ("Write a function initials that takes a name.", "def initials(...)"),
        ("Implement a helper slug which lowers titles.", "def slug(...)"),
        ("Write a function that takes a name.", None),
        ("Write a function decorator that keeps results.", None),
        ("Write `count_words`: given a text, return a dict.", "def count_words(...)"),
        ("Implement `chunk`, which splits a list.", "def chunk(...)"),
        ("Please add is_leap which is true for leap years.", "def is_leap(...)"),
        ("Write a method called reverse_string.", "def reverse_string(...)"),
        ("The function should be called slug. It lowercases.", "def slug(...)"),
        ("Sliding windows of a list. Name the function `windows`.", "def windows(...)"),
        ("Function name: is_palindrome\nIgnore case.", "def is_palindrome(...)"),
        ("Write an async function named gather_all that awaits all.", "async def gather_all(...)"),
        ("Write a generator `primes` without an end.", "def primes(...) -> Iterator"),
        ("Create a Stack class with push and pop.", "class Stack"),
        ("Write a Python class Stack.", "class Stack"),
        ("Write a dataclass Point with a method dist(other).", "class Point"),
        ("Write near(a, b) that returns a dataclass Point.", "def near(a, b)"),
        ("Write a function 'shout' that shouts.", "def shout(...)"),
        ("Context manager timer() that measures.", "def timer()"),
        ("function that checks cards, should be named luhn_valid, takes a string", "def luhn_valid(...)"),
        ("make a snake_case converter: to_snake. It lowers.", "def to_snake(...)"),
        ("Write something that takes a function `f` and applies it twice.", None),
        ("Write a function called with two numbers.", None),
        ("Write a function called encode, and a function called decode.", None),
        ("Write a function called pad for encode(s: str) and decode(s: str).", None),
        ("Write a class for an account with a method called deposit.", None),
        ("Write a class for an account with deposit(amount) and balance().", None),
        ("For a list, sort_ci should return it sorted.", "def sort_ci(...)"),
        ("Write Tally with add and total.\nt = Tally()\nt.add(2)", "class Tally"),
        ("hey @dev can we get to_snake() in utils?", "def to_snake()"),
        ("I need function name initials.", "def initials(...)"),
        ("class Counter with inc(by=1) and value.", "class Counter"),
        ("Write `ok` to the file.", None),
    ],
)
def test_a_name_alone_is_an_entry_point_where_it_is_the_only_one(text: str, header: str | None) -> None:
    signature = found(text)
    assert (signature and signature.text) == header


@pytest.mark.parametrize(
    "text",
    [
        "Program that reads numbers from stdin and prints their sum.",
        "Build a CLI for a list of tasks, kept in tasks.json.",
        "Script for temperatures: `python user_code.py 100` prints 212.0",
        "Read lines from standard input, sort them and print them.",
        "Create a tool which reads a CSV from stdin and writes JSON to stdout.",
    ],
)
def test_a_program_is_asked_for_by_what_it_reads_and_writes(text: str) -> None:
    assert asks_for_a_program(text)


@pytest.mark.parametrize(
    "text",
    [
        "Write a Python program to check if a number is prime.",
        "Write a function that reads numbers from stdin and prints their sum.",
        "Write echo(text) that prints what it reads from stdin.",
    ],
)
def test_what_can_be_called_is_no_program(text: str) -> None:
    assert not asks_for_a_program(text)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("need a fn to_bits that turns ints into bits", "def to_bits(...)"),
        ("parse durations, call it parse_duration\n'1h' is 3600", "def parse_duration(...)"),
        ("human_size — show bytes for people.", "def human_size(...)"),
        ("middle of a list pls. name: median. even length = mean, e.g. median([1, 2]) 1.5", "def median(...)"),
        ("convert colours. hex_to_rgb accepts '#rrggbb'.", "def hex_to_rgb(...)"),
        ("max age: @ttl_cache(seconds). Give the wrapper a cache_clear() attribute.", "def ttl_cache(seconds)"),
        ("an amount in cents as text please, function euro. negative ones get a minus.", "def euro(...)"),
        ("Implement the decorator remember, so that\n\n@remember\ndef area(w, h=1): ...", "def remember(...)"),
        ("The function has to be called wrap_text. Lines are short.", "def wrap_text(...)"),
        ("Please give me an Inventory (no arguments) with add(name, qty) and count(name).", "class Inventory"),
        ("# TicTacToe\n\nA board.\n\n- `play(row, col)` places a mark\n- `winner()`", "class TicTacToe"),
        ("Temperature object. Attributes celsius. Temperature(100).fahrenheit is 212.0", "class Temperature"),
        ("A guest house. RoomBookings should remember. book(room, start) takes dates.", "class RoomBookings"),
        ("Thermostat: keeps a target (constructor). update(temp) returns whether it heats.", "class Thermostat"),
        ("A dict that ignores case. Name it CaselessDict, derive from MutableMapping.", "class CaselessDict"),
        (
            "Peekable: wraps an iterator and adds peek(default=None). bool(p) tells if one is left.",
            "class Peekable",
        ),
        ("1. There is a class `Cart` with add(name, cents), remove(name) and total().", "class Cart"),
        ("Class to write: RoomCalendar.\n\nbook(start, end) -> bool. True if it was free.", "class RoomCalendar"),
        (
            "Model this as class Turnstile with coin() and push(). Also add a method replay(events).",
            "class Turnstile",
        ),
        (
            "Implement sorted_by(arr: list[int]) -> list[int] with the helper partition.",
            "def sorted_by(arr: list[int]) -> list[int]",
        ),
        ("Bowling: score(rolls) returns the total.", "def score(rolls)"),
        ("Matrix: add(other) adds, multiply(other) multiplies.", "class Matrix"),
        ("from functools import cache\n@cache\ndef f(x):\n    return x * 2\n", "def f(x)"),
        ("Use a Trie to implement complete(words, prefix).", "def complete(words, prefix)"),
        ("screen time! Allowance(minutes=60). use(n) -> how many of these; left().", "class Allowance"),
        ("area(Square(3)) == 9", None),
        ("to_morse(text) and from_morse(code), letters only.", None),
        ("squeeze and unsqueeze. squeeze(s) shortens, unsqueeze(t) is the reverse.", None),
        ("Convert snake_case keys to camelCase.", None),
        ("Expected: nothing. Constraints: none. Sorted by `created_at`.", None),
    ],
)
def test_the_likeliest_name_is_taken_where_it_stands_out(text: str, header: str | None) -> None:
    signature = found(text)
    assert (signature and signature.text) == header


@pytest.mark.parametrize("title", ["Dedupe", "Requirements", "Tests:", "Overview", "Ruby:"])
def test_a_title_above_calls_of_one_function_is_no_class(title: str) -> None:
    wanted = found(f"# {title}\n\nRemoves duplicates.\n\ndedupe([1, 1]) == [1]")
    assert wanted is not None
    assert (wanted.name, wanted.kind) == ("dedupe", "function")


def test_a_way_of_writing_names_may_be_the_name_of_a_function() -> None:
    wanted = found("title_case(s: str) -> str capitalizes words.")
    assert wanted is not None
    assert wanted.name == "title_case"
    assert found("Turn snake_case into kebab_case.") is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "Tests:\n\ndef test_wrap():\n    assert wrap('a', 1) == ['a']\n\nPlease write wrap(text, width).",
            "wrap",
        ),
        ("async def gather(coros, limit) runs them.\n\n    async def double(x): return x * 2\n", "gather"),
        (
            "Like SQL's `COALESCE(NULL, 2)` which gives 2: coalesce(*args) returns the first that is not None.",
            "coalesce",
        ),
        (
            "In JS:\n\n```js\nfunction titleCase(s) { return s; }\n```\n\nWrite title_text(s) in Python.",
            "title_text",
        ),
    ],
)
def test_what_is_shown_beside_it_is_no_entry_point(text: str, name: str) -> None:
    signature = found(text)
    assert signature is not None
    assert signature.name == name
