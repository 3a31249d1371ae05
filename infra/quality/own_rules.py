"""Rules about security that no linter has, over the syntax of the code: python -m infra.quality.own_rules

Code is excepted by a comment on it, or on the line before, that says why: `# own-rule NAME: reason`.
Ends with 1 when there are findings.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("app.py", "chalicelib", "infra")

_EXCEPTED = re.compile(r"# own-rule ([a-z-]+): \w+")
_SECRET = re.compile(r"(^|_)(token|secret|password|signature|mac|credential)(_hash|_digest)?$")
_LEVELS = {"debug", "info", "warning", "error", "critical", "exception"}
_LIMITED: Mapping[str, str] = {
    "httpx.Client": "timeout", "httpx.request": "timeout", "httpx.get": "timeout", "httpx.post": "timeout",
    "httpx.put": "timeout", "httpx.stream": "timeout", "urllib.request.urlopen": "timeout", "urlopen": "timeout",
    "boto3.client": "config", "boto3.resource": "config", "psycopg.connect": "connect_timeout",
    "psycopg.Connection.connect": "connect_timeout", "socket.create_connection": "timeout",
    "subprocess.run": "timeout", "subprocess.check_output": "timeout",
}  # fmt: skip
"""Calls that wait for somebody else, each with the argument that limits for how long (boto3's `Config` does)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that is broken, and where."""

    rule: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {RULES[self.rule].__doc__}"


Rule = Callable[[ast.AST, str, list[str]], bool]


def _call_without_limit(node: ast.AST, _file: str, _lines: list[str]) -> bool:
    """A call that waits for somebody else has no limit of time."""
    if not isinstance(node, ast.Call) or (limit := _LIMITED.get(ast.unparse(node.func))) is None:
        return False
    named = {one.arg for one in node.keywords}
    by_position = limit == "timeout" and len(node.args) > 1 and "connection" in ast.unparse(node.func)
    return not by_position and not named & {limit, None}


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
    both = (node.left, node.comparators[0])
    in_a_query = any("Row." in ast.unparse(side) for side in both)  # a condition, which DynamoDB decides
    return any(map(_is_secret, both)) and not in_a_query and not any(isinstance(side, ast.Constant) for side in both)


def _is_secret(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "reveal"
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return bool(_SECRET.search(name))


def _blind_except(node: ast.AST, _file: str, lines: list[str]) -> bool:
    """Every exception is caught, and there is no word about why."""
    if not isinstance(node, ast.ExceptHandler) or any(isinstance(one, ast.Raise) for one in ast.walk(node)):
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
    """A response leads elsewhere: no address that a request has named may be its target."""
    if not file.startswith("chalicelib/api/") or not isinstance(node, ast.Constant):
        return False
    return type(node.value) is int and node.value in (301, 302, 303, 307, 308)


RULES: Mapping[str, Rule] = {
    "no-limit": _call_without_limit,
    "text-in-log": _text_in_log,
    "secrets-compared": _secrets_compared,
    "blind-except": _blind_except,
    "clock-in-domain": _clock_in_domain,
    "redirect": _redirect,
}


def findings(source: str, file: str) -> Iterator[Finding]:
    """What breaks a rule in the code of one file. `file` is its path from the root."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        for name, rule in RULES.items():
            if rule(node, file, lines) and name not in _excepted(node, lines):
                yield Finding(name, file, getattr(node, "lineno", 0))


def _excepted(node: ast.AST, lines: list[str]) -> set[str]:
    begin, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    return {name for line in lines[max(begin - 2, 0) : end] for name in _EXCEPTED.findall(line)}


def all_findings() -> list[Finding]:
    """The findings in the whole code."""
    files = [path for name in CODE for path in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"))]
    return [one for file in sorted(files) for one in findings(file.read_text(), file.relative_to(ROOT).as_posix())]


if __name__ == "__main__":
    broken = all_findings()
    for one in broken:
        print(one)
    sys.exit(bool(broken))
