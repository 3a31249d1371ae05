import json
import tracemalloc
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.clients.connect import members as module
from chalicelib.clients.connect.client import Connect
from chalicelib.clients.connect.members import MAX_MEMBER_LENGTH, members
from chalicelib.clients.connect.parse import MAX_CONNECTORS
from chalicelib.errors import Unavailable
from tests.support.apps.connect_worker import Reply, Worker, short_deadline, status_body

MEBIBYTE = 1024 * 1024
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(
    body=st.dictionaries(st.text(), VALUES, max_size=6),
    slice_bytes=st.integers(1, 40),
    indent=st.sampled_from([None, 1]),
    plain=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_the_members_are_those_of_the_object_wherever_its_text_is_cut(
    body: dict[str, object], slice_bytes: int, indent: int | None, plain: bool
) -> None:
    content = json.dumps(body, indent=indent, ensure_ascii=not plain).encode()
    with patch.object(module, "_SLICE_BYTES", slice_bytes):
        assert list(members(content)) == list(body.items())


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"7", b'"a"', b"{", b'{"a":1', b'{"a":1,', b'{"a":}', b"{1:2}", b'{"a":1}x', b'{"a":1}{', b"<html>",
     b"\xff", b'{"a":1 "b":2}', b'{"a":' + b"[" * 100_000],
)  # fmt: skip
def test_what_is_no_object_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - that is all that is said
        list(members(content))


def test_a_hostile_list_takes_little_more_memory_than_its_text(connect: Connect, worker: Worker) -> None:
    brackets = b'{"a":[' + b"[]," * (8 * MEBIBYTE) + b"[]]}"
    worker.on("GET", "/connectors?expand=status", Reply(body=brackets))
    tracemalloc.start()
    with pytest.raises(Unavailable):
        connect.statuses(short_deadline(20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * len(brackets) + 30 * MAX_MEMBER_LENGTH


def test_ten_thousand_connectors_with_their_configs_are_read(connect: Connect, worker: Worker) -> None:
    config = {f"key.number.{number}": f"a value of the usual length, {number}" for number in range(40)}
    names = [f"headgate-source-{number:012x}40008000{0:012x}" for number in range(10_000)]
    body = {name: {"status": status_body("RUNNING", "RUNNING"), "info": {"config": config}} for name in names}
    worker.on("GET", "/connectors?expand=status&expand=info", Reply(body=body))
    statuses, hashes = connect.statuses_and_configs(short_deadline(30))
    assert (list(statuses), set(hashes)) == (names, set(names))


def test_more_connectors_than_are_read_are_no_list_of_connectors(connect: Connect, worker: Worker) -> None:
    entries = b",".join(b'"%d":{}' % number for number in range(MAX_CONNECTORS + 1))
    worker.on("GET", "/connectors?expand=status", Reply(body=b"{" + entries + b"}"))
    with pytest.raises(Unavailable):
        connect.statuses(short_deadline(20))
