"""After a main job on the real stack no file of it, and no response of its servers, contains a secret."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from tests.support.apps.real_headgate import RealHeadgate
from tests.support.hostile.leaks import CapturedOutput, Leak, find_leaks
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

ALLOWED = (
    # The worker's own configuration, which only its owner may read, has the credential to ask for secrets.
    ("service credential", "state/connect/"),
)
WORDS = "shop.words"
PART = 8 * 1024 * 1024
OVERLAP = 4096


@pytest.fixture(scope="module")
def secrets_in_use(headgate: RealHeadgate) -> dict[str, str]:
    """The secrets of a pipeline and a delivery that run and have transferred a row."""
    table = "CREATE TABLE shop.words (id bigint PRIMARY KEY, word text)"
    source = headgate.database("secret_source", table, "ALTER TABLE shop.words OWNER TO {role}",
                               "INSERT INTO shop.words VALUES (1, 'one')")  # fmt: skip
    target = headgate.database("secret_target")
    pipeline = headgate.captured(source, "words")
    topic = pipeline["topics"][0]
    headgate.deliver(headgate.destination(target), headgate.delivery_body(pipeline, {topic: "words"}))
    _wait_for_the_row(target)
    session = next(cookie.value for cookie in headgate.client.cookies.jar if cookie.value)
    return {
        "source password": source.password,
        "destination password": target.password,
        "service credential": headgate.service_credential,
        "session token": session.partition(".")[2],
    }


def test_no_file_and_no_response_of_the_real_stack_contains_a_secret(
    headgate: RealHeadgate, secrets_in_use: dict[str, str], real_state: Path
) -> None:
    outputs = [*_files(real_state), *_connect(headgate), *_tables(headgate), *_responses(headgate)]
    assert {output.channel for output in outputs} == {"file", "connect", "table", "response"}
    for kind in ("state/logs/connect.log", "state/dynamodb/", "state/sqs/", "state/kafka/", "headgate.log"):
        assert any(kind in output.location for output in outputs), kind
    assert [str(leak) for leak in find_leaks(secrets_in_use, outputs) if not _is_allowed(leak)] == []


def test_a_secret_in_a_file_of_the_stack_would_be_found(secrets_in_use: dict[str, str], real_state: Path) -> None:
    planted = real_state / "planted"
    planted.write_bytes(b"." * (PART - 5) + secrets_in_use["source password"].encode())
    found = find_leaks(secrets_in_use, _files(real_state))
    planted.unlink()
    assert ("source password", "planted") in {(leak.secret, leak.location) for leak in found}


def _is_allowed(leak: Leak) -> bool:
    return any(leak.secret == secret and leak.location.startswith(location) for secret, location in ALLOWED)


def _files(state: Path) -> Iterator[CapturedOutput]:
    """Every file of the state except those of PostgreSQL; long ones in overlapping parts."""
    for file in sorted(state.rglob("*")):
        location = file.relative_to(state).as_posix()
        if file.is_file() and not location.startswith("state/postgres/"):
            with file.open("rb") as stream:
                tail = b""
                while part := stream.read(PART):
                    if part.strip(b"\0"):
                        yield CapturedOutput("file", location, tail + part)
                    tail = part[-OVERLAP:]


def _connect(headgate: RealHeadgate) -> Iterator[CapturedOutput]:
    with httpx.Client(base_url=headgate.stack.addresses.connect, timeout=20, trust_env=False) as http:
        for name in http.get("/connectors").json():
            for path in ("", "/config", "/status", "/tasks", "/topics"):
                location = f"/connectors/{name}{path}"
                yield CapturedOutput("connect", location, http.get(location).content)


def _tables(headgate: RealHeadgate) -> Iterator[CapturedOutput]:
    client: Any = boto3.client(
        "dynamodb", endpoint_url=headgate.stack.addresses.dynamodb, region_name="us-east-1",
        aws_access_key_id="local", aws_secret_access_key="local",
    )  # fmt: skip
    for name in client.list_tables()["TableNames"]:
        for page in client.get_paginator("scan").paginate(TableName=name):
            for item in page["Items"]:
                yield CapturedOutput("table", name, json.dumps(item, default=repr, ensure_ascii=False).encode())


def _responses(headgate: RealHeadgate) -> Iterator[CapturedOutput]:
    for path in ("/sources", "/destinations", "/pipelines", "/deliveries", "/connect/clusters", "/audit?limit=500"):
        response = headgate.client.get(path)
        assert response.status_code == 200, path
        yield CapturedOutput("response", path, response.content + repr(response.headers).encode())


def _wait_for_the_row(target: Any) -> None:
    eventually(lambda: target.content("shop", "words", ["id", "word"]), lambda rows: rows == ["(1,one)"])
