"""Every regular expression of the project, found in its syntax trees, and whether its time grows linearly.

Python's engine backtracks and has no time limit: a pattern that needs quadratic time is a way to stop a process.
"""

import ast
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

Text = str | bytes
_WHOLE = ("match", "fullmatch")
_SEARCHES = ("search", "sub", "subn", "split", "findall", "finditer")
SHORT, LONG = 512, 8_192
_FIRST_LENGTHS = (16, 19, 22, 25, 32, 64, 256)
_EXPLODES_SECONDS = 0.1
"""A linear pattern needs less than a tenth of this for the first lengths, on a slow machine too."""
_FLOOR_SECONDS = 20e-6
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
MAX_CHARACTERS, MAX_PAIRED, MAX_BEGINNINGS = 16, 8, 6
MAX_GROWTH = 64
"""From SHORT to LONG linear is 16 and quadratic 256. This is between them: noise of a factor of 4 changes nothing."""


@dataclass(frozen=True, slots=True)
class Site:
    """A pattern, where the code has it. `text` is None when it is computed.

    `searches`: it may begin anywhere in a text, not at its beginning only.
    """

    file: str
    line: int
    text: Text | None
    flags: int = 0
    searches: bool = True

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


def sites(root: Path, paths: Iterable[str] = ("app.py", "chalicelib", "infra")) -> list[Site]:
    """Every place below these paths that has a pattern: calls of `re`, and arguments with the name `pattern`."""
    files = [file for path in paths for file in ([root / path] if path[-3:] == ".py" else (root / path).rglob("*.py"))]
    trees = {str(file.relative_to(root)): ast.parse(file.read_text()) for file in sorted(files)}
    shared = {name for tree in trees.values() for name in _searched_names(tree) if name[0] != "_"}
    return [site for file, tree in trees.items() for site in _sites_of(file, tree, {*shared, *_searched_names(tree)})]


def _searched_names(tree: ast.Module) -> Iterator[str]:
    """Names whose methods search: `_MENTION.sub(...)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _SEARCHES and isinstance(node.value, ast.Name):
            yield node.value.id


def _sites_of(file: str, tree: ast.Module, searched: set[str]) -> Iterator[Site]:
    named = {
        id(node.value): target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        method = _method_of_re(node.func)
        if method in ("compile", *_WHOLE, *_SEARCHES):
            searches = method in _SEARCHES if method != "compile" else named.get(id(node), "") in {*searched, ""}
            yield Site(file, node.lineno, _literal(node.args[0]), _flags(node), searches)
        for argument in node.keywords:
            if argument.arg in ("pattern", "regex") and not _is_none(argument.value):
                yield Site(file, node.lineno, _literal(argument.value), searches=False)


def _method_of_re(function: ast.expr) -> str | None:
    of_re = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "re"
    return function.attr if of_re else None  # type: ignore[attr-defined]


def _literal(node: ast.expr) -> Text | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, (str, bytes)) else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _flags(call: ast.Call) -> int:
    names = {node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute) and node.attr.isupper()}
    return sum(int(getattr(re, name, 0)) for name in names)


# Hostile texts


def hostile_texts(pattern: "re.Pattern[Any]", length: int) -> Iterator[Text]:
    """Texts of about this length on which a pattern with nested, adjacent or unanchored repetition takes longest.

    Each is a beginning that matches, a pump repeated, and an end that does not match.
    """
    parsed = _parsed(pattern)
    characters = list(dict.fromkeys(_samples(parsed)))[:MAX_CHARACTERS]
    beginnings = list(dict.fromkeys(["", *_beginnings(parsed, "")]))[:MAX_BEGINNINGS]
    pumps = [*characters, *("".join(pair) for pair in permutations(characters[:MAX_PAIRED], 2))]
    for beginning, pump, end in product(beginnings, pumps, ("", "\x00", "!")):
        text = beginning + pump * ((length - len(beginning)) // len(pump)) + end
        yield text.encode("latin-1", "replace") if _is_bytes(pattern) else text


def _repeats(pattern: "re.Pattern[Any]") -> bool:
    return next(_beginnings(_parsed(pattern), ""), None) is not None


def _parsed(pattern: "re.Pattern[Any]") -> Any:
    return _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE if _is_bytes(pattern) else pattern.flags)


def _is_bytes(pattern: "re.Pattern[Any]") -> bool:
    return isinstance(pattern.pattern, bytes)


def _samples(parsed: Any) -> Iterator[str]:
    """A character for every literal and set of the pattern."""
    for code, argument in parsed:
        if code in (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY):
            yield _sample(code, argument)
        for inner in _parts_of(code, argument):
            yield from _samples(inner)


def _beginnings(parsed: Any, before: str) -> Iterator[str]:
    """The shortest text in front of each repetition."""
    for code, argument in parsed:
        if code in _REPEATS and argument[1] > 1:
            yield before
        for inner in _parts_of(code, argument):
            yield from _beginnings(inner, before)
        before += _shortest(code, argument)


def _parts_of(code: Any, argument: Any) -> list[Any]:
    match code:
        case _ if code in _REPEATS:
            return [argument[2]]
        case codes.SUBPATTERN:
            return [argument[3]]
        case codes.BRANCH:
            return list(argument[1])
        case codes.ASSERT | codes.ASSERT_NOT:
            return [argument[1]]
        case codes.ATOMIC_GROUP:
            return [argument]
        case _:
            return []


def _shortest(code: Any, argument: Any) -> str:
    match code:
        case codes.LITERAL | codes.NOT_LITERAL | codes.IN | codes.ANY:
            return _sample(code, argument)
        case _ if code in _REPEATS:
            return "".join(_shortest(*alternative) for alternative in argument[2]) * min(argument[0], 40)
        case codes.SUBPATTERN | codes.ATOMIC_GROUP | codes.BRANCH:
            return "".join(_shortest(*part) for part in _parts_of(code, argument)[0])
        case _:
            return ""


def _sample(code: Any, argument: Any) -> str:
    if code is codes.LITERAL:
        return chr(argument)
    kind = re.compile(_set_text(code, argument))
    return next(
        (character for character in "a0 _-.,:;\"'\\/@#%+*=(){}[]$~|!?&<>\tAZ\x01\x80" if kind.match(character)), "\x00"
    )


def _set_text(code: Any, argument: Any) -> str:
    if code is codes.ANY:
        return "."
    if code is codes.NOT_LITERAL:
        return f"[^{re.escape(chr(argument))}]"
    parts = {codes.NEGATE: "^"}
    classes = {
        codes.CATEGORY_DIGIT: r"\d",
        codes.CATEGORY_SPACE: r"\s",
        codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_DIGIT: r"\D",
        codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_NOT_WORD: r"\W",
    }
    text = ""
    for kind, value in argument:
        if kind is codes.LITERAL:
            text += re.escape(chr(value))
        elif kind is codes.RANGE:
            text += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            text += parts.get(kind) or classes[value]
    return f"[{text}]"


# Growth


def slow_text(pattern: "re.Pattern[Any]", *, searches: bool) -> str | None:
    """The kind of text with which the pattern's time grows faster than the length; None for a linear pattern."""
    if not _repeats(pattern):
        return None  # it looks at a bounded number of characters from each beginning
    use = (lambda text: sum(1 for _ in pattern.finditer(text))) if searches else pattern.fullmatch
    for length in _FIRST_LENGTHS:
        for text in hostile_texts(pattern, length):
            if _seconds(use, text) > _EXPLODES_SECONDS and _seconds(use, text) > _EXPLODES_SECONDS:
                return f"{text[:20]!r}... explodes at {length} characters"
    for short, long in zip(hostile_texts(pattern, SHORT), hostile_texts(pattern, LONG), strict=True):
        if (times := growth(use, short, long)) > MAX_GROWTH:
            return f"{short[:20]!r}... grows by {times:.0f} where the length grows by {LONG // SHORT}"
    return None


def growth(use: Callable[[Any], object], short: Text, long: Text) -> float:
    """How much longer the longer text takes. Of a fast one it is enough that it is fast."""
    if (once := _seconds(use, long)) < _FLOOR_SECONDS * MAX_GROWTH:
        return once / _FLOOR_SECONDS
    return _least(use, long) / max(_least(use, short), _FLOOR_SECONDS)


def _least(use: Callable[[Any], object], text: Text) -> float:
    """The least of several measurements: another process can make one longer, never shorter."""
    return min(_seconds(use, text) for _ in range(3))


def _seconds(use: Callable[[Any], object], text: Text) -> float:
    began = time.thread_time()
    use(text)
    return time.thread_time() - began
