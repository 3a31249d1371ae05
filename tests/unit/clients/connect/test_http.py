import base64
import threading
from typing import Any

import pytest

from chalicelib.clients.connect import http as connect_http
from chalicelib.clients.connect.client import Connect
from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.masking import Secret
from tests.support.apps.connect_worker import READS, Reply, Worker, connect_at, short_deadline

reads = pytest.mark.parametrize("read", READS)


@reads
def test_an_answer_over_the_limit_is_dropped(connect: Connect, worker: Worker, read: str, monkeypatch: Any) -> None:
    path, call = READS[read]
    worker.on("GET", path, Reply(body='{"a": "' + "x" * (connect_http.MEBIBYTE + 10) + '"}'))
    if read in ("statuses", "connectors"):
        assert call(connect, short_deadline())
    else:
        with pytest.raises(Unavailable):
            call(connect, short_deadline())


def test_user_name_and_password_travel_in_a_header_alone(worker: Worker) -> None:
    client = connect_at(worker.url, username="u", password=Secret("hunter2"))
    client.root(short_deadline())
    client.close()
    assert worker.headers[-1]["authorization"] == "Basic " + base64.b64encode(b"u:hunter2").decode()
    assert "hunter2" not in repr(client.__dict__) + repr(worker.seen)


@pytest.mark.parametrize("name", ["a/b", "a b", "a?b", "a#b", "ä", "..", ".", "a%2Fb"])
def test_a_name_stays_one_segment_of_the_path(connect: Connect, worker: Worker, name: str) -> None:
    with pytest.raises(Unavailable):
        connect.find_config(name, short_deadline())
    (_, path) = worker.seen[-1]
    assert path.isascii()
    assert path.count("/") == 3
    assert "?" not in path
    assert path.split("/")[2] not in (".", "..")


def test_a_base_path_is_kept(worker: Worker) -> None:
    worker.on("GET", "/connect/", Reply(body={"version": "4.3.1"}))
    client = connect_at(worker.url + "/connect/")
    assert client.root(short_deadline()).version == "4.3.1"
    client.close()


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "connect:8083",
            "ftp://connect",
            "file:///etc/passwd",
            "http://",
            "http://u:p@connect",
            "http://u@connect",
        ),
        *("http://connect?x=1", "http://connect#x", "http://connect:0", "http://connect:99999", "http://con nect"),
        *("http://connect\n", "http://connect\\@other", "http://ä", "http://[::1"),
    ],
)
def test_a_url_of_another_form_is_refused_at_once(url: str) -> None:
    with pytest.raises(Invalid) as refused:
        connect_at(url)
    assert refused.value.code == "URL_NOT_ALLOWED"


def test_an_address_that_is_not_allowed_is_never_connected_to(worker: Worker) -> None:
    client = connect_at(worker.url, check_host=AddressPolicy())
    with pytest.raises(Invalid) as refused:
        client.root(short_deadline())
    client.close()
    assert refused.value.code == "URL_NOT_ALLOWED"
    assert worker.seen == []


def test_many_threads_may_share_a_client(connect: Connect) -> None:
    versions: list[str] = []
    threads = [
        threading.Thread(target=lambda: versions.append(connect.root(short_deadline()).version)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert versions == ["4.3.1"] * 8
