import signal
import socket
import subprocess
import sys

import pytest

from infra.local.app.errors import SetupMissing
from infra.local.app.main import uses_sandbox
from infra.local.stack.layout import ROOT


def test_auto_takes_the_real_stack_where_it_can_be_had_and_says_why():
    assert uses_sandbox("auto", None) == (False, "real, since Java 17 or newer and Maven are here")
    assert uses_sandbox("auto", "Maven (mvn) is not on the PATH") == (
        True,
        "sandbox, since Maven (mvn) is not on the PATH",
    )


def test_a_stack_that_was_asked_for_is_taken():
    assert uses_sandbox("real", None) == (False, "real, as asked")
    assert uses_sandbox("sandbox", None) == (True, "sandbox, as asked")


def test_a_real_stack_that_cannot_be_had_is_refused_with_what_to_install():
    with pytest.raises(SetupMissing, match=r"Java 11 is older than 17.*apt-get install"):
        uses_sandbox("real", "Java 11 is older than 17")


def test_a_port_that_is_taken_ends_the_run_with_status_2():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        command = [sys.executable, "-m", "infra.local.app.main", "--no-demo", "--port", str(port)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"port {port} is in use" in done.stderr
    assert "--port" in done.stderr
    assert done.stdout == ""


def test_a_signal_ends_a_run_quietly_and_in_order():
    program = (
        "from contextlib import ExitStack; from infra.local.process import interrupts; ends = ExitStack()\n"
        "with interrupts.stop_on_signals() as signalled, ExitStack() as ends:\n"
        "    ends.callback(print, 'ended')\n"
        "    print('serving', flush=True)\n"
        "    signalled.wait(600)\n"
        "print('status', flush=True)"
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "serving\n"
            process.send_signal(number)
            assert process.stdout.read() == "ended\nstatus\n"
        assert process.returncode == 0
