import json
import random
import socket
import subprocess
import sys

import pytest

from infra.local.app.errors import SetupMissing
from infra.local.process.ports import FIRST, LAST, free_port, is_free, kept_ports


def test_ports_are_chosen_once_and_used_again(tmp_path):
    file = tmp_path / "state" / "ports.json"
    first = kept_ports(file, ["kafka", "connect"])
    assert kept_ports(file, ["kafka", "connect"]) == first
    assert len(set(first.values())) == 2
    assert all(FIRST <= port < LAST for port in first.values())


def test_a_server_that_is_new_gets_a_port_and_the_others_keep_theirs(tmp_path):
    file = tmp_path / "ports.json"
    first = kept_ports(file, ["kafka"])
    both = kept_ports(file, ["kafka", "postgres"])
    assert both["kafka"] == first["kafka"]
    assert both["postgres"] != first["kafka"]


def test_a_server_that_is_left_out_once_keeps_its_port(tmp_path):
    file = tmp_path / "ports.json"
    first = kept_ports(file, ["kafka", "postgres"])
    assert kept_ports(file, ["kafka"]) == {"kafka": first["kafka"]}
    assert kept_ports(file, ["kafka", "postgres"]) == first


def test_a_kept_port_that_is_taken_is_named_and_not_moved(tmp_path):
    file = tmp_path / "ports.json"
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        file.write_text(json.dumps({"kafka": taken}))
        with pytest.raises(SetupMissing, match=rf"port {taken}, kept for kafka"):
            kept_ports(file, ["kafka"])
    assert json.loads(file.read_text()) == {"kafka": taken}


def test_a_port_on_which_something_listens_is_not_free():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)


def test_a_port_that_was_given_is_not_given_again():
    random.seed(0)
    first = free_port()
    random.seed(0)
    assert free_port() != first


def test_a_port_that_was_given_is_refused_to_other_processes_and_can_be_listened_on():
    port = free_port()
    attempt = f"from infra.local.process import ports; print(ports._reserve({port}))"
    assert subprocess.check_output([sys.executable, "-c", attempt], text=True).strip() == "False"
    with socket.create_server(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port)):
        pass
