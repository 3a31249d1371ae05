"""Each rule about security finds what it is for; what other linters find for us, they do find."""

import subprocess
import sys
from pathlib import Path

import pytest

from infra.local.stack.layout import ROOT
from infra.quality.own_rules import RULES, all_findings, findings

BROKEN = {
    "no-limit": (
        "httpx.Client(verify=context)",
        "boto3.client('kms')",
        "psycopg.connect('dbname=x')",
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
    "redirect": ("HttpResponse(status=302, headers=headers)", "r.status_code = 307"),
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
    "# own-rule redirect: to a path of our own\nHttpResponse(status=302)",
)
FILES = {"clock-in-domain": "chalicelib/domain/x.py"}


@pytest.mark.parametrize(("rule", "code"), [(rule, code) for rule, all_of in BROKEN.items() for code in all_of])
def test_a_rule_finds_what_breaks_it(rule: str, code: str) -> None:
    assert {one.rule for one in findings(code, FILES.get(rule, "chalicelib/api/x.py"))} == {rule}


@pytest.mark.parametrize("code", SOUND)
def test_sound_code_is_not_reported(code: str) -> None:
    assert list(findings(code, "chalicelib/api/x.py")) == []


def test_every_rule_has_an_example_and_says_what_is_wrong() -> None:
    assert set(BROKEN) == set(RULES)
    assert all(rule.__doc__ for rule in RULES.values())


def test_an_exception_without_a_reason_counts_for_nothing() -> None:
    assert list(findings("# own-rule redirect:\nHttpResponse(status=302)", "chalicelib/api/x.py"))


def test_our_code_keeps_the_rules() -> None:
    assert [str(one) for one in all_findings()] == []


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
