"""The main job of `infra/run`, and what it prints."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pymysql
import pytest
from botocore.exceptions import EndpointConnectionError

from infra.local.app.addresses import StackAddresses
from infra.local.demo import main_job
from infra.local.demo.changes import COUNT
from infra.local.demo.data import ROWS, TABLES
from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import Kind, NotificationReceiver
from infra.local.process.ports import free_port
from infra.local.stack import mysql_programs, s3
from tests.support.apps.local_run import ROOT, LocalRun, fresh_state, once, started
from tests.support.old_go import old_go

READY = re.compile(r"judged for this pipeline: READY, (\d+) of \1 checks passed")
REGISTERED = (
    *("/sources", "/destinations", "/connections", "/stream/clusters", "/connect/clusters"),
    *("/pipelines", "/deliveries", "/notification-channels"),
)
LEAST_TABLES, LEAST_ROWS, LEAST_CHANGES = 3, 1_000, 200


@pytest.fixture(scope="module")
def real_state() -> Iterator[Path]:
    """One state folder for all runs on the real stack: each run starts with what the one before left."""
    with fresh_state() as state:
        yield state


@pytest.mark.thorough
def test_in_the_sandbox_every_step_is_true_and_no_row_is_claimed_to_move() -> None:
    with fresh_state() as state:
        status, output = once("sandbox", state)
    assert status == 0, output
    assert "no row moves here" in output
    assert "equal in content" not in output
    assert READY.search(output), output
    for fact in (
        "Create it: desired DRAFT, observed NOT_DEPLOYED",
        "references only, no password in either",
        "Pause the pipeline: desired PAUSED, observed PAUSED",
        "both gone",
    ):
        assert fact in output, output
    _assert_alerted(output)
    assert re.search(r"^all \d+ steps were true", output, re.MULTILINE), output


def test_the_demonstration_ends_with_one_when_a_step_is_not_true() -> None:
    nothing = f"127.0.0.1:{free_port()}"
    stack = StackAddresses(kafka=nothing, connect=f"http://{nothing}", postgres=f"postgresql://x:y@{nothing}/postgres")
    with NotificationReceiver(Kind.CHAT, authority=Authority()) as messages:
        status = main_job.run(
            url=f"http://{nothing}", admin_email="a@b.c", admin_password="p", stack=stack, messages=messages
        )
    assert status == 1


@pytest.mark.skipif(mysql_programs.missing() is not None, reason=str(mysql_programs.missing()))
def test_with_more_servers_the_run_prints_their_addresses_and_ends_them_with_all_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old_go(monkeypatch, tmp_path)
    options = ["--no-demo", "--stack", "sandbox", "--with", "mysql,minio", "--port", str(free_port())]
    command = [str(ROOT / "infra" / "run"), *options]
    with fresh_state() as state, started(command, state) as run:
        run.wait_for(r"^HEADGATE_READY")
        lines = [line.partition("=")[0] for line in run.text.splitlines() if line.startswith("HEADGATE_")]
        assert lines[-4:] == ["HEADGATE_POSTGRES", "HEADGATE_MYSQL", "HEADGATE_S3", "HEADGATE_READY"]
        store = urlsplit(run.value_of("HEADGATE_S3"))
        bucket = s3.client(store.port, store.username, store.password)
        bucket.put_object(Bucket=store.path[1:], Key="any", Body=b"")
        parts = urlsplit(run.value_of("HEADGATE_MYSQL"))
        server = {"host": parts.hostname, "port": parts.port, "user": parts.username, "password": parts.password}
        with pymysql.connect(**server).cursor() as cursor:
            cursor.execute("SELECT CURRENT_USER()")
            assert cursor.fetchone() == ("root@localhost",)
        assert run.press_ctrl_c() == 0, run.text
        with pytest.raises(pymysql.OperationalError):
            pymysql.connect(**server)
        with pytest.raises(EndpointConnectionError):
            bucket.list_buckets()


@pytest.mark.real
class TestOnTheRealStack:
    """In this order, in one state folder."""

    def test_rows_and_changes_arrive_equal_and_the_demonstration_continues_to_serve(self, real_state: Path) -> None:
        assert len(TABLES) >= LEAST_TABLES
        assert ROWS >= LEAST_ROWS
        assert COUNT >= LEAST_CHANGES
        port = free_port()
        command = [str(ROOT / "infra" / "run"), "--stack", "real", "--port", str(port)]
        with started(command, real_state) as run:
            run.wait_for(r"^all \d+ steps were true")
            _assert_arrived(run.text)
            _assert_serving_with_nothing_registered(run)
            assert run.press_ctrl_c() == 0, run.text
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"http://127.0.0.1:{port}/health")

    def test_the_next_run_meets_nothing_that_the_last_one_left_and_ends(self, real_state: Path) -> None:
        status, output = once("real", real_state)
        assert status == 0, output
        assert "Remove what earlier demonstrations left: nothing was there" in output
        assert "HEADGATE_ADMIN_PASSWORD=" not in output
        _assert_arrived(output)
        assert "both gone" in output


def _assert_arrived(output: str) -> None:
    """Rows and changes have arrived, equal by count and by content."""
    same = f"{ROWS:,} rows in the source, {ROWS:,} in the target, equal in content"
    assert f"Compare source and target: {same}" in output, output
    changed = re.search(rf"Make {COUNT} changes .*: ([\d,]+) rows in the source, ([\d,]+) in the target, equal", output)
    assert changed, output
    assert changed[1] == changed[2] != f"{ROWS:,}"
    assert output.count("after 3 s none has arrived") == 2, output
    assert READY.search(output), output
    for fact in ("references only, no password in either", "none in "):
        assert fact in output, output
    _assert_alerted(output)


def _assert_alerted(output: str) -> None:
    """Two messages have arrived: that the delivery has failed, and that it runs again."""
    assert "wait for the message: DESTINATION_WRITE_FAILED, critical, firing" in output, output
    assert re.search(r"wait for the recovery: resolved after \d+ s", output), output
    assert output.count("the receiver got:") == 3, output


def _assert_serving_with_nothing_registered(run: LocalRun) -> None:
    credentials = {
        "email": run.value_of("HEADGATE_ADMIN_EMAIL"),
        "password": run.value_of("HEADGATE_ADMIN_PASSWORD"),
    }
    url = run.value_of("HEADGATE_URL")
    assert f"the console is at {url}/console" in run.text
    assert httpx.get(url, headers={"Accept": "text/html"}, follow_redirects=True).url == f"{url}/console"
    with httpx.Client(base_url=f"{url}/api/v1") as client:
        client.post("/auth/login", json=credentials).raise_for_status()
        registered = {path: client.get(path).json() for path in REGISTERED}
    assert registered == {path: [] for path in REGISTERED}
    lines = run.text.splitlines()
    names = [line.partition("=")[0] for line in lines if line.startswith("HEADGATE_")]
    assert names == [
        "HEADGATE_URL",
        "HEADGATE_ADMIN_EMAIL",
        "HEADGATE_ADMIN_PASSWORD",
        "HEADGATE_KAFKA",
        "HEADGATE_CONNECT",
        "HEADGATE_POSTGRES",
        "HEADGATE_READY",
    ]
