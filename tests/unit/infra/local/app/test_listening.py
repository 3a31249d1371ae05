import os
import socket
import subprocess
import sys

import httpx
import pytest

from infra.local.app import listening
from infra.local.app.errors import SetupMissing
from infra.local.stack.layout import ROOT


@pytest.fixture
def port():
    taken = listening.take(0)
    yield taken
    taken.close()


def test_while_headgate_starts_every_request_is_told_to_try_again(port):
    answer = httpx.post(f"{port.url}/api/v1/sources", content=b"x" * 1000)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "TRY_AGAIN")
    assert answer.headers["retry-after"] == "5"


def test_a_client_that_sends_nothing_keeps_no_other_waiting_for_long(port):
    with socket.create_connection(("127.0.0.1", port.number)):
        assert httpx.get(port.url, timeout=10).status_code == 503


def test_the_port_is_taken_from_the_beginning_on(port):
    with pytest.raises(SetupMissing, match=rf"port {port.number} is in use"):
        listening.take(port.number)


def test_after_the_hand_over_another_answers(port):
    server = port.hand_over()
    with socket.create_connection(("127.0.0.1", port.number)) as client:
        accepted, _ = server.accept()
        with accepted:
            accepted.sendall(b"of the server")
            assert client.recv(100) == b"of the server"


def test_a_program_goes_on_with_the_socket_of_the_one_before(port, monkeypatch):
    server = port.hand_over()
    monkeypatch.setenv(listening.INHERITED, str(os.dup(server.fileno())))
    again = listening.take(0)
    try:
        assert again.number == port.number
    finally:
        again.close()


def test_the_first_program_needs_no_package():
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{_FIRST}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a port" in done.stderr


_FIRST = "from infra.local.app import first; sys.exit(first.main(['--port', 'x']))"
