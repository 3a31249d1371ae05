"""Rules that no linter has, over the syntax of the code: python -m infra.quality.own_rules

A comment on the code, or on the line before, makes an exception and says why: `# own-rule NAME: reason`. Exceptions for
whole files, functions and classes are in `EXCEPTIONS`. Ends with 1 when there are findings.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.quality.provider_imports import imports_another_kind
from infra.quality.provider_words import misplaced_words

ROOT = Path(__file__).parents[2]
CODE = ("app.py", "chalicelib", "infra", "tests")
MAX_FILE_LINES = 399
MAX_FUNCTION_LINES = 40
"""Without the docstring: what fits a screen."""

EXCEPTIONS: Mapping[str, frozenset[str]] = {
    # Each is a list of steps in one order.
    "long-function": frozenset(
        {
            "chalicelib/clients/databases/postgresql/session.py::_sign_in",
            "chalicelib/clients/http/guarded.py::_guarded_network",
            "chalicelib/wiring/connectors.py::__init__",
            "chalicelib/wiring/monitors.py::__init__",
            "chalicelib/wiring/resources.py::__init__",
        }
    ),
    # The bus calls other services, which the wiring hands to it as functions.
    "service-without-io": frozenset({"chalicelib/services/alerts/bus.py"}),
}
"""By rule: files, and functions as `file::function`."""

_EXCEPTED = re.compile(r"# own-rule ([a-z-]+): \w+")
_SECRET = re.compile(r"(^|_)(token|secret|password|signature|mac|credential)(_hash|_digest)?$")
_SENTENCES = {"message", "hint", "title"}
_DECIDES = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
_TEXT_TESTS = {"startswith", "endswith", "find", "index", "count"}
_ERROR = re.compile(r"^(e|exc|.*(error|exception|failure))$")
_WITHOUT_IO = {"domain", "kit", "errors"}
_LEVELS = {"debug", "info", "warning", "error", "critical", "exception"}
_LIMITED: Mapping[str, str] = {
    "httpx.Client": "timeout", "httpx.request": "timeout", "httpx.get": "timeout", "httpx.post": "timeout",
    "httpx.put": "timeout", "httpx.stream": "timeout", "urllib.request.urlopen": "timeout", "urlopen": "timeout",
    "boto3.client": "config", "boto3.resource": "config", "psycopg.connect": "connect_timeout",
    "psycopg.Connection.connect": "connect_timeout", "pymysql.connect": "connect_timeout",
    "socket.create_connection": "timeout",
    "subprocess.run": "timeout", "subprocess.check_output": "timeout",
}  # fmt: skip
"""Calls that wait for another process or server, each with the argument that limits the time (boto3: `Config`)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule, and its place."""

    rule: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {ALL_RULES[self.rule].__doc__}"


Rule = Callable[[ast.AST, str, list[str]], bool]
"""Whether a node of the file at this path, which has these lines, breaks the rule."""

ProjectRule = Callable[[Mapping[str, str]], Iterable[tuple[str, int]]]
"""The files and lines that break the rule, of sources by path."""


def _call_without_limit(node: ast.AST, _file: str, _lines: list[str]) -> bool:
    """A call that waits for another process or server has no limit of time."""
    if not isinstance(node, ast.Call) or (limit := _LIMITED.get(ast.unparse(node.func))) is None:
        return False
    keywords = {keyword.arg for keyword in node.keywords}
    by_position = limit == "timeout" and len(node.args) > 1 and "connection" in ast.unparse(node.func)
    return not by_position and not keywords & {limit, None}


def _text_in_log(node: ast.AST, _file: str, _lines: list[str]) -> bool:
    """The message of a log line is not a constant: values belong into `extra`, where secrets are masked."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _LEVELS:
        return False
    logger = ast.unparse(node.func.value).lower()
    return "log" in logger and bool(node.args) and not isinstance(node.args[0], ast.Constant)


def _secrets_compared(node: ast.AST, _file: str, _lines: list[str]) -> bool:
    """A secret or its hash is compared with == or !=: hmac.compare_digest takes the same time for all."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return False
    sides = (node.left, node.comparators[0])
    in_query = any("Row." in ast.unparse(side) for side in sides)  # a condition, which DynamoDB evaluates
    return any(map(_is_secret, sides)) and not in_query and not any(isinstance(side, ast.Constant) for side in sides)


def _is_secret(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "reveal"
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return bool(_SECRET.search(name))


def _blind_except(node: ast.AST, _file: str, lines: list[str]) -> bool:
    """Every exception is caught, and no comment says why."""
    if not isinstance(node, ast.ExceptHandler) or any(isinstance(inner, ast.Raise) for inner in ast.walk(node)):
        return False
    if node.type is not None and ast.unparse(node.type) not in ("Exception", "BaseException"):
        return False
    first, second = lines[node.lineno - 1], lines[node.lineno].strip()
    return not re.search(r"# noqa: BLE001 - \w+", first) and not second.startswith("# ")


def _clock_in_domain(node: ast.AST, file: str, _lines: list[str]) -> bool:
    """The domain reads a clock: time is an argument there."""
    if not file.startswith("chalicelib/domain/") or not isinstance(node, ast.Call):
        return False
    return bool(re.fullmatch(r"(datetime\.(datetime\.)?(now|utcnow)|time\.\w+|utc_now)", ast.unparse(node.func)))


def _redirect(node: ast.AST, file: str, _lines: list[str]) -> bool:
    """A response redirects: an address from a request may never be its target."""
    if not file.startswith("chalicelib/api/") or not isinstance(node, ast.Constant):
        return False
    return type(node.value) is int and node.value in (301, 302, 303, 307, 308)


def _provider_word(node: ast.AST, file: str, _lines: list[str]) -> bool:
    """A word of one kind of database or object store is used outside of its folder: see provider_words.py."""
    return bool(misplaced_words(node, file))


def _provider_import(node: ast.AST, file: str, _lines: list[str]) -> bool:
    """Only its own folders, the registry and the wiring know one kind of database: see provider_imports.py."""
    return imports_another_kind(node, file)


def _sentence_compared(node: ast.AST, _file: str, _lines: list[str]) -> bool:
    """A sentence for people decides: codes are compared, and sentences are looked up for people to read."""
    if isinstance(node, ast.Match):
        return _is_sentence(node.subject)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in _TEXT_TESTS and _is_sentence(node.func.value)
    if not isinstance(node, ast.Compare) or not any(isinstance(operator, _DECIDES) for operator in node.ops):
        return False
    return any(map(_is_sentence, (node.left, *node.comparators)))


def _is_sentence(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "str" and node.args:
        return isinstance(node.args[0], ast.Name) and bool(_ERROR.search(node.args[0].id))
    return isinstance(node, ast.Attribute) and node.attr in _SENTENCES


def _long_file(node: ast.AST, _file: str, lines: list[str]) -> bool:
    """A file has 400 lines or more: divide it by verb, tests by subject."""
    return isinstance(node, ast.Module) and len(lines) > MAX_FILE_LINES


def _long_function(node: ast.AST, file: str, _lines: list[str]) -> bool:
    """A function has more than 40 lines without its docstring: it does not fit a screen."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    docstring = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
    length = _length(node) - (_length(docstring) if docstring else 0)
    return length > MAX_FUNCTION_LINES and f"{file}::{node.name}" not in EXCEPTIONS["long-function"]


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _service_without_io(node: ast.AST, file: str, _lines: list[str]) -> bool:
    """A file of services imports nothing but domain and kit: it decides, so it belongs to the domain."""
    if not isinstance(node, ast.Module) or not file.startswith("chalicelib/services/") or not node.body:
        return False
    imported = {module.split(".")[1] for module in _imports(node) if module.startswith("chalicelib.")}
    return bool(imported) and imported <= _WITHOUT_IO and file not in EXCEPTIONS["service-without-io"]


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


RULES: Mapping[str, Rule] = {
    "no-limit": _call_without_limit,
    "text-in-log": _text_in_log,
    "secrets-compared": _secrets_compared,
    "blind-except": _blind_except,
    "clock-in-domain": _clock_in_domain,
    "redirect": _redirect,
    "provider-word": _provider_word,
    "provider-import": _provider_import,
    "sentence-compared": _sentence_compared,
    "long-file": _long_file,
    "long-function": _long_function,
    "service-without-io": _service_without_io,
}
"""Rules over one file."""

RULES_OF_TESTS = ("long-file",)
"""Those of them that files of tests keep, too."""


def _classes_twice(files: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """A class name of chalicelib stands for two classes: readers and the OpenAPI document mix them up."""
    places: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for file, source in files.items():
        if file.startswith("chalicelib/"):
            for node in ast.parse(source).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append((file, node.lineno))
    for definitions in places.values():
        yield from definitions[1:]


PROJECT_RULES: Mapping[str, ProjectRule] = {"class-twice": _classes_twice}
"""Rules over all files, by their path from the root."""

ALL_RULES: Mapping[str, Rule | ProjectRule] = {**RULES, **PROJECT_RULES}


def findings(source: str, file: str) -> Iterator[Finding]:
    """The broken rules in the code of one file. `file` is its path from the root."""
    lines = source.splitlines()
    names = RULES_OF_TESTS if file.startswith("tests/") else RULES
    for node in ast.walk(ast.parse(source)):
        for name in names:
            if RULES[name](node, file, lines) and name not in _excepted(node, lines):
                yield Finding(name, file, getattr(node, "lineno", 0))


def _excepted(node: ast.AST, lines: list[str]) -> set[str]:
    begin, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    return {name for line in lines[max(begin - 2, 0) : end] for name in _EXCEPTED.findall(line)}


def project_findings(files: Mapping[str, str]) -> list[Finding]:
    """The broken rules in these sources by path, those included that only show over several files."""
    by_file = [finding for file, source in files.items() for finding in findings(source, file)]
    places = [(name, place) for name, rule in PROJECT_RULES.items() for place in rule(files)]
    return by_file + [Finding(name, file, line) for name, (file, line) in places]


def all_findings() -> list[Finding]:
    """The broken rules in the whole code."""
    paths = [path for name in CODE for path in [ROOT / name, *(ROOT / name).rglob("*.py")] if path.suffix == ".py"]
    return project_findings({path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted(paths)})


if __name__ == "__main__":
    broken = all_findings()
    for finding in broken:
        print(finding)
    sys.exit(bool(broken))
