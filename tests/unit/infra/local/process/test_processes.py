import signal
import subprocess
import sys

import pytest

from infra.local.app.errors import ServerFailed
from infra.local.process.process_identity import Identity, running
from infra.local.process.process_stop import wait_for_end
from infra.local.process.processes import ServerPlan, ServerProcess, last_lines, stop_leftover
from infra.local.process.reaper import Reaper

SERVES = "import pathlib, time; pathlib.Path('ready').touch(); print('up', flush=True); time.sleep(600)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SERVES
WITH_A_CHILD = (
    "import pathlib, subprocess, sys; "
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
    "pathlib.Path('child').write_text(str(child.pid)); " + SERVES
)
FAILS = "print('no licence for this planet'); raise SystemExit(3)"


@pytest.fixture
def reaper():
    made = Reaper()
    yield made
    made.close()


@pytest.fixture
def plan(tmp_path):
    def make(program, **changes):
        settings = {
            "name": "Sample",
            "command": [sys.executable, "-c", program],
            "folder": tmp_path,
            "log": tmp_path / "sample.log",
            "pid_file": tmp_path / "sample.json",
            "ready": (tmp_path / "ready").exists,
            "end_within": 0.5,
        }
        return ServerPlan(**{**settings, **changes})

    return make


def test_a_server_is_up_when_its_probe_says_so_and_gone_after_stop(plan, reaper):
    server = ServerProcess(plan(SERVES), reaper)
    server.start()
    identity = running(server.pid)
    assert server.is_running
    assert Identity.from_line(server.plan.pid_file.read_text()) == identity
    server.stop()
    assert not server.is_running
    assert not identity.is_running()
    assert not server.plan.pid_file.exists()


def test_a_server_that_ignores_the_polite_signal_is_killed(plan, reaper):
    server = ServerProcess(plan(STUBBORN), reaper)
    server.start()
    identity = running(server.pid)
    server.stop()
    assert not identity.is_running()


def test_a_killed_server_takes_its_children_with_it_and_starts_again(plan, reaper, tmp_path):
    server = ServerProcess(plan(WITH_A_CHILD), reaper)
    server.start()
    child = running(int((tmp_path / "child").read_text()))
    first = server.pid
    server.kill()
    assert wait_for_end(child, 30)
    server.start()
    assert server.pid != first
    server.kill()


def test_a_server_has_a_group_of_its_own_so_that_the_terminal_does_not_reach_it(plan, reaper):
    server = ServerProcess(
        plan("import os, pathlib; pathlib.Path('group').write_text(str(os.getpgrp())); " + SERVES), reaper
    )
    server.start()
    assert int((server.plan.folder / "group").read_text()) == server.pid
    server.stop()


def test_a_server_that_ends_before_it_is_ready_is_reported_with_the_end_of_its_log(plan, reaper):
    server = ServerProcess(plan(FAILS), reaper)
    with pytest.raises(ServerFailed, match="Sample ended before it was ready") as failed:
        server.start()
    assert "no licence for this planet" in str(failed.value)
    assert "sample.log" in str(failed.value)
    server.stop()


def test_a_server_that_never_gets_ready_is_a_failure(plan, reaper):
    server = ServerProcess(plan("import time; time.sleep(600)", ready_within=0.3), reaper)
    with pytest.raises(ServerFailed, match="was not ready within"):
        server.start()
    server.stop()


def test_what_a_killed_run_left_behind_is_ended_at_the_next_start(plan, reaper):
    remaining = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    server = ServerProcess(plan(SERVES), reaper)
    server.plan.pid_file.write_text(running(remaining.pid).to_line())
    server.start()
    assert remaining.wait(30) == -signal.SIGTERM
    server.stop()


def test_another_process_that_got_the_same_id_is_left_alone(tmp_path):
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    try:
        seen = running(bystander.pid)
        pid_file = tmp_path / "sample.json"
        for other in (
            Identity(seen.pid, seen.started - 1, seen.boot),
            Identity(seen.pid, seen.started, "another boot"),
        ):
            pid_file.write_text(other.to_line())
            assert not stop_leftover(pid_file)
            assert not pid_file.exists()
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize("text", ["", "{", "[]", "12", '{"pid": 1}', '{"pid": "x", "started": 1, "boot": ""}'])
def test_a_process_file_that_was_cut_off_names_nobody(tmp_path, text):
    pid_file = tmp_path / "sample.json"
    pid_file.write_text(text)
    assert not stop_leftover(pid_file)
    assert not pid_file.exists()


def test_servers_end_when_the_run_is_killed(tmp_path):
    run = (
        "import pathlib, sys, time; from infra.local.process.processes import ServerPlan, ServerProcess; "
        "from infra.local.process.reaper import Reaper; here = pathlib.Path(sys.argv[1]); "
        "server = ServerProcess(ServerPlan(name='Sample', command=[sys.executable, '-c', sys.argv[2]], folder=here, "
        "log=here / 'log', pid_file=here / 'pid', ready=(here / 'ready').exists), Reaper()); "
        "server.start(); print('serving', flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", run, str(tmp_path), SERVES]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "serving\n"
        server = Identity.from_line((tmp_path / "pid").read_text())
        process.kill()
    assert wait_for_end(server, 30)


def test_only_the_end_of_a_long_log_is_shown(tmp_path):
    log = tmp_path / "sample.log"
    log.write_text("".join(f"line {number}\n" for number in range(100_000)))
    assert last_lines(log, 2) == ["line 99998", "line 99999"]
