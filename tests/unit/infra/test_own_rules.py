"""Each rule of ours finds what it is for; what other linters find for us, they do find."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from infra.local.stack.layout import ROOT
from infra.quality import own_rules
from infra.quality.own_rules import ALL_RULES, RULES, all_findings, findings, project_findings
from infra.quality.provider_words import EXCEPTIONS, misplaced_words

BROKEN = {
    "no-limit": (
        "httpx.Client(verify=context)",
        "boto3.client('kms')",
        "psycopg.connect('dbname=x')",
        "pymysql.connect(host='x')",
        "socket.create_connection(address)",
        "subprocess.run(['ls'])",
    ),
    "text-in-log": (
        "get_logger().info(f'password {password}')",
        "logger.error('no login with ' + password)",
        "log.warning('%s' % dsn)",
        "get_logger().debug(text)",
    ),
    "secrets-compared": (
        "ok = token == session.token",
        "if given_signature != signature:\n    pass",
        "ok = secret.reveal() == other",
        "ok = token_hash(x) == user.password_hash",
    ),
    "blind-except": (
        "try:\n    f()\nexcept Exception:\n    pass",
        "try:\n    f()\nexcept BaseException:\n    log()",
        "try:\n    f()\nexcept Exception:  # noqa: BLE001\n    log()",
    ),
    "clock-in-domain": ("now = datetime.now(UTC)", "now = utc_now()", "began = time.monotonic()"),
    "provider-word": (
        "slot_name = None",
        "from chalicelib.x import BinlogReader",
        "def drop_slot(): ...",
        "text = 'The WAL of the server grows.'",
        "f(publication=1)",
        "slots = []",
        "place.bucket",
    ),
    "provider-import": (
        "from chalicelib.domain.providers.mysql.facts import PostgreSQLServerFacts",
        "from chalicelib.domain.providers import mysql",
        "import chalicelib.clients.databases.mysql.client",
        "from chalicelib.clients.object_store.client import ObjectStore",
    ),
    "redirect": ("HttpResponse(status=302, headers=headers)", "r.status_code = 307"),
    "sentence-compared": (
        "if condition.message == MISSING:\n    pass",
        "known = hint.message not in SENTENCES",
        "ok = 'secret' in seen.connector.hint",
        "ok = TITLE != alert.title",
        "ok = str(error) == 'no rows'",
        "ok = 'denied' in str(exc)",
        "ok = failure.message.startswith('The source')",
        "match condition.title:\n    case 'Lost':\n        pass",
    ),
    "long-file": ("x = 1\n" * 400,),
    "long-function": ("def f():\n" + "    x = 1\n" * 40, "class A:\n    async def f():\n" + "        x = 1\n" * 40),
    "service-without-io": (
        "from chalicelib.domain.pipeline import Pipeline",
        "import chalicelib.domain.pipeline\nfrom chalicelib.kit import ids\nfrom chalicelib.errors import Conflict",
    ),
}
SOUND = (
    "httpx.Client(timeout=3)",
    "boto3.client('kms', config=limits)",
    "psycopg.connect('', connect_timeout=3)",
    "psycopg.connect(**settings)",
    "socket.create_connection(address, 2)",
    "subprocess.run(['ls'], timeout=3)",
    "get_logger().info('no login', extra={'user': user})",
    "ok = hmac.compare_digest(token, expected)",
    "ok = scheme == 'bearer'",
    "condition = Row.token == token",
    "try:\n    f()\nexcept Exception as error:\n    raise Unavailable('x') from error",
    "try:\n    f()\nexcept Exception:  # noqa: BLE001 - the next one has its turn\n    log()",
    "try:\n    f()\nexcept Exception:\n    # The next one has its turn.\n    log()",
    "HttpResponse(status=201, headers={'Location': path})",
    "@dataclass(frozen=True, slots=True)\nclass A: ...",
    "class A:\n    __slots__ = ()",
    "published = wallet = 'one backslot'",
    "ok = error.message is None",
    "ok = str(value) == 'x'",
    "ok = sent.message.upper()",
    "x = 1\n" * 399,
    'def f():\n    """A\n' + "    long\n" * 20 + '    text."""\n' + "    x = 1\n" * 39,
    "text = f'{hint.message} {title}'",
    "# own-rule redirect: to a path of our own\nHttpResponse(status=302)",
)
FILES = {"clock-in-domain": "chalicelib/domain/x.py", "service-without-io": "chalicelib/services/x.py"}


@pytest.mark.parametrize(("rule", "code"), [(rule, code) for rule, codes in BROKEN.items() for code in codes])
def test_a_rule_finds_what_breaks_it(rule: str, code: str) -> None:
    assert {finding.rule for finding in findings(code, FILES.get(rule, "chalicelib/api/x.py"))} == {rule}


@pytest.mark.parametrize("code", SOUND)
def test_sound_code_is_not_reported(code: str) -> None:
    assert list(findings(code, "chalicelib/api/x.py")) == []


def test_files_of_tests_are_bounded_and_keep_no_other_rule() -> None:
    broken = "httpx.Client(verify=context)\n" * 399
    assert list(findings(broken, "tests/unit/test_x.py")) == []
    assert [one.rule for one in findings(broken + "x = 1\n", "tests/unit/test_x.py")] == ["long-file"]


@pytest.mark.parametrize(
    "file",
    [
        "chalicelib/domain/providers/mysql/log.py",
        "chalicelib/clients/databases/mysql/client.py",
        "chalicelib/clients/object_store/client.py",
        "chalicelib/domain/object_store.py",
        "chalicelib/api/contract/object_store.py",
        "chalicelib/domain/diagnosis/codes.py",
        "infra/local/demo/capture.py",
    ],
)
def test_words_of_a_provider_may_stand_in_its_own_folders(file: str) -> None:
    assert list(findings("slot, binlog, bucket = 1, 2, 3", file)) == []


def test_a_word_that_the_wire_needs_is_allowed_in_that_file_only_and_no_other_word_is() -> None:
    assert list(findings("drop_slot = 1", "chalicelib/api/contract/runtime.py")) == []
    assert list(findings("bucket = 1", "chalicelib/api/contract/runtime.py"))


@pytest.mark.parametrize("path", EXCEPTIONS)
def test_every_exception_of_words_is_needed(path: str) -> None:
    files = [ROOT / path] if path.endswith(".py") else list((ROOT / path).rglob("*.py"))
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    assert {word for node in nodes for word in misplaced_words(node, "chalicelib/x.py")} == EXCEPTIONS[path]


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("domain/providers/registry.py", "domain.providers.mysql.defaults"),
        ("domain/providers/mysql/target_provider.py", "domain.providers.mysql.facts"),
        ("domain/providers/mysql/target_provider.py", "domain.providers.jdbc.checks"),
        ("clients/databases/mysql/client.py", "domain.providers.mysql.facts"),
        ("clients/databases/mysql/client.py", "clients.databases.errors"),
        ("clients/object_store/client.py", "domain.providers.object_store.facts"),
        ("api/contract/mysql.py", "domain.providers.mysql.capture_options"),
        ("wiring/clients.py", "clients.databases.mysql.client"),
        ("wiring/clients.py", "clients.object_store.client"),
        ("services/sources.py", "domain.providers.registry"),
    ],
)
def test_what_belongs_to_one_kind_of_database_may_be_imported_by_its_own_and_where_kinds_are_listed(
    file: str, module: str
) -> None:
    rules = [finding.rule for finding in findings(f"import chalicelib.{module}", f"chalicelib/{file}")]
    assert "provider-import" not in rules


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("domain/providers/postgresql/target.py", "domain.providers.mysql.facts"),
        ("domain/providers/jdbc/checks.py", "domain.providers.mysql.facts"),
        ("domain/providers/contract.py", "domain.providers.mysql.facts"),
        ("domain/providers/registry.py", "clients.databases.mysql.client"),
        ("clients/databases/postgresql/client.py", "clients.databases.mysql.client"),
        ("clients/databases/contract.py", "domain.providers.mysql.facts"),
        ("clients/databases/mysql/client.py", "domain.providers.jdbc.checks"),
        ("api/contract/pipelines.py", "domain.providers.mysql.capture_options"),
        ("wiring/clients.py", "domain.providers.mysql.facts"),
        ("services/sources.py", "domain.providers.jdbc.checks"),
    ],
)
def test_nobody_else_knows_one_kind_of_database(file: str, module: str) -> None:
    rules = [finding.rule for finding in findings(f"import chalicelib.{module}", f"chalicelib/{file}")]
    assert "provider-import" in rules


def test_a_class_name_that_stands_for_two_classes_is_found() -> None:
    files = {"chalicelib/domain/a.py": "class Row: ...", "chalicelib/stores/b.py": "\nclass Row: ..."}
    places = [(finding.rule, finding.file, finding.line) for finding in project_findings(files)]
    assert places == [("class-twice", "chalicelib/stores/b.py", 2)]


def test_classes_of_one_file_only_and_inner_classes_may_share_a_name() -> None:
    files = {"chalicelib/domain/a.py": "class _Row: ...", "chalicelib/stores/b.py": "class _Row:\n    class Meta: ..."}
    assert (
        project_findings(files | {"infra/aws/c.py": "class Queue: ...", "infra/local/d.py": "class Queue: ..."}) == []
    )


@pytest.mark.parametrize(
    "code",
    [
        "from chalicelib.domain.pipeline import Pipeline\nfrom chalicelib.stores.pipelines import Pipelines",
        "from chalicelib.domain.pipeline import Pipeline\nfrom chalicelib.services.jobs import Jobs",
        "",
    ],
)
def test_a_service_that_uses_stores_or_services_is_not_reported(code: str) -> None:
    assert list(findings(code, "chalicelib/services/x.py")) == []


def test_every_rule_has_an_example_and_says_what_is_wrong() -> None:
    assert set(BROKEN) == set(RULES)
    assert all(rule.__doc__ for rule in ALL_RULES.values())


def test_our_code_keeps_the_rules_and_every_exception_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    exceptions = {(rule, name) for rule, names in own_rules.EXCEPTIONS.items() for name in names}
    monkeypatch.setattr(own_rules, "EXCEPTIONS", dict.fromkeys(own_rules.EXCEPTIONS, frozenset()))
    assert {(finding.rule, named(finding)) for finding in all_findings()} == exceptions


def named(finding: own_rules.Finding) -> str:
    """The finding as an exception names it: a class, a function as `file::function`, or a file."""
    line = (ROOT / finding.file).read_text().splitlines()[finding.line - 1]
    definition = re.match(r"\s*(?:async )?(class|def) (\w+)", line) if finding.line else None
    if definition is None:
        return finding.file
    return definition[2] if definition[1] == "class" else f"{finding.file}::{definition[2]}"


def test_an_exception_without_a_reason_counts_for_nothing() -> None:
    assert list(findings("# own-rule redirect:\nHttpResponse(status=302)", "chalicelib/api/x.py"))


@pytest.mark.thorough  # a check of its own in infra/test
def test_bandit_finds_nothing_of_medium_severity_or_above() -> None:
    command = [sys.executable, "-m", "bandit", "--quiet", "--recursive", "--severity-level", "medium"]
    done = subprocess.run(
        [*command, "app.py", "chalicelib", "infra"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("import datetime\nnow = datetime.datetime.now()\n", "DTZ005"),
        ("import random\ntoken = random.choice('ab')\n", "S311"),
        ("import yaml\nyaml.load(text)\n", "S506"),
        ("import subprocess\nsubprocess.run(f'ls {name}', shell=True)\n", "S602"),
        ("import pickle\npickle.loads(data)\n", "S301"),
        ("import hashlib\nhashlib.md5(data)\n", "S324"),
        ("import ssl\nssl._create_unverified_context()\n", "S323"),
        ("import httpx\nhttpx.get('https://a', verify=False, timeout=1)\n", "S501"),
        ("eval(text)\n", "S307"),
        ("query = f\"SELECT * FROM t WHERE name = '{name}'\"\n", "S608"),
    ],
)
def test_ruff_finds_what_needs_no_rule_of_our_own(tmp_path: Path, code: str, rule: str) -> None:
    file = tmp_path / "planted.py"
    file.write_text(code)
    command = [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "infra/quality/ruff.toml"), str(file)]
    done = subprocess.run(
        [*command, "--output-format", "concise"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert rule in done.stdout
