"""Random secrets are given to a running Headgate by every door; everything goes wrong; then everything is searched."""

import base64
import json
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from infra.local.doubles.connect_faults import FaultEffect
from tests.support.leaks import CapturedOutput, Leak, find_leaks
from tests.support.output_recorder import OutputRecorder, start_recorder, unique_secret
from tests.support.waiting import eventually

pytestmark = pytest.mark.thorough

Json = dict[str, Any]
LEGAL: tuple[tuple[str, str, str], ...] = (
    # secret, channel, beginning of the location
    ("session token", "response headers", "POST /api/v1/auth/login"),
    ("source password", "response body", "GET /internal/secrets/"),
    ("destination password", "response body", "GET /internal/secrets/"),
    ("CA certificate", "response body", "GET /internal/secrets/"),
    ("Connect password", "response body", "GET /internal/secrets/"),
    ("Kafka password", "response body", "GET /internal/secrets/"),
    ("master key", "state folder", "master-key"),
    ("service credential", "state folder", "service-credential"),
)
"""The only places where a secret may be seen. The requests that bring it are not recorded."""


def illegal(found: list[Leak]) -> list[Leak]:
    """Those that are not where they may be."""
    return [
        leak
        for leak in found
        if not any(
            (leak.secret, leak.channel) == (secret, channel) and leak.location.startswith(location)
            for secret, channel, location in LEGAL
        )
    ]


@pytest.fixture(scope="module")
def recorder() -> Iterator[OutputRecorder]:
    """A Headgate to which every kind of secret was given, and to which everything bad has happened."""
    state = Path(tempfile.mkdtemp(prefix="headgate-canaries-"))
    with ExitStack() as ends:
        ends.callback(shutil.rmtree, state, ignore_errors=True)
        built = start_recorder(state, ends)
        _live(built)
        _suffer(built)
        yield built


def _database(recorder: OutputRecorder, name: str, password: str) -> Json:
    quoted = password.replace("'", "''")
    with recorder.postgresql.connect() as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN REPLICATION PASSWORD '{quoted}'".encode())
        connection.execute(f"CREATE DATABASE {name} OWNER {name}".encode())
    with recorder.postgresql.connect(name) as connection:
        connection.execute(f"SET ROLE {name}".encode())
        connection.execute(b"CREATE SCHEMA shop")
        connection.execute(b"CREATE TABLE shop.orders (id bigint PRIMARY KEY, note text)")
    where = {"host": "127.0.0.1", "port": recorder.postgresql.port, "database_name": name, "username": name}
    return {"name": name, "provider": "postgresql", "config": where, "credentials": {"password": password}}


def _live(recorder: OutputRecorder) -> None:
    """The main job, as people do it."""
    given = recorder.secrets
    source = _database(recorder, "shop_source", given["source password"])
    source["credentials"]["ca_certificate"] = given["CA certificate"]
    stored = recorder.post_ok("/sources", source)
    recorder.ids["source"] = stored["id"]
    stored = recorder.post_ok("/destinations", _database(recorder, "shop_target", given["destination password"]))
    recorder.ids["destination"] = stored["id"]
    kafka = {
        "name": "secured", "bootstrap_servers": recorder.doubles.kafka, "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN", "username": "u", "credentials": {"password": given["Kafka password"]},
    }  # fmt: skip
    recorder.post_ok("/stream/clusters", kafka)
    stream = recorder.post_ok("/stream/clusters", {"name": "s", "bootstrap_servers": recorder.doubles.kafka})["id"]
    connect = {
        "name": "c", "base_url": recorder.doubles.connect, "stream_cluster_id": stream, "username": "u",
        "credentials": {"password": given["Connect password"]},
    }  # fmt: skip
    recorder.ids["connect"] = recorder.post_ok("/connect/clusters", connect)["id"]
    # The certificate is no certificate: what needs one fails, and then the source goes on without it.
    recorder.call("POST", f"/sources/{recorder.ids['source']}/test")
    plain = {**source, "name": "plain", "credentials": {"password": given["source password"]}}
    recorder.ids["plain source"] = recorder.post_ok("/sources", plain)["id"]
    job = recorder.post_ok(f"/sources/{recorder.ids['plain source']}/discover", None, 202)
    eventually(lambda: recorder.call("GET", f"/jobs/{job['id']}").json()["status"], lambda seen: seen == "COMPLETED")
    body = {
        "name": "p", "source_id": recorder.ids["plain source"], "stream_cluster_id": stream,
        "connect_cluster_id": recorder.ids["connect"], "topic_prefix": "p",
        "tables": [{"schema_name": "shop", "table_name": "orders"}],
    }  # fmt: skip
    recorder.post_ok("/pipelines/preview", body, 200)
    pipeline = recorder.post_ok("/pipelines", body)["id"]
    recorder.ids["pipeline"] = pipeline
    recorder.post_ok(f"/pipelines/{pipeline}/deploy", None, 200)
    recorder.doubles.kafka_double.state.create_topic("p.shop.orders")
    mapping = {"topic": "p.shop.orders", "schema_name": "shop", "table_name": "orders"}
    delivery = {"pipeline_id": pipeline, "name": "d", "mappings": [mapping]}
    where = f"/destinations/{recorder.ids['destination']}"
    recorder.post_ok(f"{where}/preview", delivery, 200)
    recorder.ids["delivery"] = recorder.post_ok(f"{where}/deploy", delivery)["id"]
    recorder.run_command("fire", schedule="dispatch")
    answered = {"Idempotency-Key": "canary-key-1"}
    recorder.secrets["stored response"] = unique_secret("i")
    noted = {"name": "noted", "description": recorder.secrets["stored response"], **_without_name(source)}
    for _ in range(2):
        assert recorder.call("POST", "/sources", noted, headers=answered).status_code == 201


def _without_name(body: Json) -> Json:
    return {key: value for key, value in body.items() if key != "name"}


def _suffer(recorder: OutputRecorder) -> None:
    """What goes wrong for people, and what enemies try."""
    given, ids = recorder.secrets, recorder.ids
    wrong = {"credentials": {"password": given["wrong password"]}}
    body = {**_shown(recorder, f"/sources/{ids['plain source']}"), "name": "wrong", **wrong}
    refused = recorder.post_ok("/sources", body)["id"]
    assert recorder.post_ok(f"/sources/{refused}/test", None, 200)["success"] is False
    assert recorder.post_ok("/destinations/test-connection", _without_name(body), 200)["success"] is False
    recorder.post_ok("/destinations", body)
    recorder.call("POST", "/auth/login", {"email": "admin@headgate.local", "password": given["wrong password"]})
    recorder.call("GET", "/internal/secrets/x", headers={"Authorization": f"Bearer {_ascii(given['wrong password'])}"})
    recorder.call("GET", "/sources", headers={"Cookie": f"headgate_session=x.{given['wrong password'].encode().hex()}"})
    _hand_out_secrets(recorder)
    for secret in ("source password", "wrong password"):
        _send_malformed(recorder, given[secret])
    _break_connect(recorder)
    recorder.run_command("spoil", id=ids["source"], text=json.dumps({"password": given["source password"]}))
    assert recorder.call("GET", f"/sources/{ids['source']}").status_code == 500
    assert recorder.call("GET", "/sources").status_code == 500
    for path in ("/audit", "/pipelines", f"/pipelines/{ids['pipeline']}", "/deliveries", "/connect/clusters"):
        assert recorder.call("GET", path).status_code == 200
    for path in ("/openapi.json", "/docs", "/health"):
        assert recorder.call("GET", path).status_code == 200


def _ascii(text: str) -> str:
    """What a header can carry of it: two windows and more."""
    return text.encode("ascii", "ignore").decode()


def _shown(recorder: OutputRecorder, path: str) -> Json:
    shown = recorder.call("GET", path).json()
    return {name: shown[name] for name in ("name", "provider", "config")}


def _hand_out_secrets(recorder: OutputRecorder) -> None:
    """To Connect's plug-in, and to nobody else."""
    references = [
        json.dumps(recorder.doubles.connect_double.config_of(name)) for name in recorder.doubles.connect_double.names()
    ]
    uuids = {text.partition("${headgate:")[2].partition(":")[0] for text in references} - {""}
    assert len(uuids) == 2
    for uuid in uuids:
        trusted = {"Authorization": f"Bearer {recorder.credential}"}
        assert recorder.call("GET", f"/internal/secrets/{uuid}", headers=trusted).status_code == 200
        assert recorder.call("GET", f"/internal/secrets/{uuid}").status_code == 403


def _send_malformed(recorder: OutputRecorder, secret: str) -> None:
    """Every way in which a secret can stand in a request that is refused."""
    fields = {
        "/sources": ("password", "ca_certificate"), "/destinations/test-connection": ("password", "ca_certificate"),
        "/destinations": ("password", "ca_certificate"), "/stream/clusters": ("password",),
        "/connect/clusters": ("password",),
    }  # fmt: skip
    for path, names in fields.items():
        for name in names:
            for value in ({"deep": secret}, [secret], secret * 2000):
                assert recorder.call("POST", path, {"name": "x", "credentials": {name: value}}).status_code == 422
        for extra in (
            {"credentials": {"pasword": secret}},
            {secret: 1},
            {"credentials": secret},
            {"name": {"a": secret}},
        ):
            assert recorder.call("POST", path, extra).status_code == 422
    login = (
        {"email": {"a": secret}, "password": secret},
        {"email": secret, "password": [secret]},
        {"password": secret},
    )
    for body in login:
        assert recorder.call("POST", "/auth/login", body).status_code in (401, 422)
    for text in (f'{{"password": "{secret}', f'{{"a": 1, "a": "{secret}"}}', f'"{secret}"', f"password={secret}"):
        for kind in ("application/json", "text/plain"):
            raw = recorder.call("POST", "/sources", headers={"Content-Type": kind}, content=text.encode())
            assert raw.status_code in (400, 415, 422)
    assert recorder.call("GET", "/sources", params={"password": secret}).status_code == 422
    assert recorder.call("GET", "/sources", params={"cursor": secret}).status_code in (400, 422)
    recorder.call("GET", f"/sources/{secret.encode().hex()}")
    recorder.call(
        "POST", "/sources", {}, headers={"Idempotency-Key": secret.encode().hex(), "If-Match": secret.encode().hex()}
    )


def _break_connect(recorder: OutputRecorder) -> None:
    """Connect refuses, falls silent, and tells the secret in its traces."""
    given, double, pipeline = (
        recorder.secrets,
        recorder.doubles.connect_double,
        f"/pipelines/{recorder.ids['pipeline']}",
    )
    for effect in (FaultEffect.GARBAGE, FaultEffect.TIMED_OUT, FaultEffect.NOT_READY, FaultEffect.LOSE_REPLY):
        double.plant(effect, None, "/connectors", times=1)
        recorder.call("POST", f"{pipeline}/restart")
    double.faults.clear()
    trace = (
        f"org.postgresql.util.PSQLException: FATAL: password authentication failed: {given['source password']}\n"
        f"\tat jdbc:postgresql://h/db?password={given['destination password']}&user=u\n{given['service credential']}"
    )
    for name in double.names():
        double.fail_task(name, trace)
    for path in (f"{pipeline}/status", f"/deliveries/{recorder.ids['delivery']}/status"):
        assert recorder.call("GET", path).json()["observed_state"] in ("DEGRADED", "FAILED")
    recorder.run_command("fire", schedule="dispatch")
    eventually(
        lambda: recorder.call("GET", pipeline).json()["observed_state"], lambda seen: seen in ("DEGRADED", "FAILED")
    )


def test_no_secret_is_anywhere_but_where_it_belongs(recorder: OutputRecorder) -> None:
    kept = {name: secret for name, secret in recorder.secrets.items() if name != "stored response"}
    assert [
        str(leak) for leak in illegal(find_leaks(kept, recorder.everything())) if not _spoiled(recorder, leak)
    ] == []


def _spoiled(recorder: OutputRecorder, leak: Leak) -> bool:
    """The row that the test itself had spoiled, to see what an unexpected exception tells."""
    return (leak.secret, leak.channel, leak.location) == ("source password", "table", "headgate-sources")


def test_only_one_row_was_spoiled_by_the_test(recorder: OutputRecorder) -> None:
    found = [output for output in recorder.everything() if output.channel == "table" and "-sources" in output.location]
    assert [len(find_leaks({"source password": recorder.secrets["source password"]}, [one])) for one in found].count(
        1
    ) == 1


def test_each_secret_was_seen_where_it_belongs(recorder: OutputRecorder) -> None:
    """Otherwise nothing was given, or nothing was recorded, and finding nothing would mean nothing."""
    seen = {(leak.secret, leak.channel) for leak in find_leaks(recorder.secrets, recorder.everything())}
    assert {
        ("session token", "response headers"),
        ("source password", "response body"),
        ("destination password", "response body"),
        ("master key", "state folder"),
        ("service credential", "state folder"),
    } <= seen


def test_an_answer_kept_for_a_repeated_request_is_sealed(recorder: OutputRecorder) -> None:
    rows = [one for one in recorder.everything() if (one.channel, one.location) == ("table", "headgate-idempotency")]
    assert rows
    assert find_leaks({"stored response": recorder.secrets["kept answer"]}, rows) == []


def test_files_that_hold_secrets_are_their_owners_alone(recorder: OutputRecorder) -> None:
    for name in ("master-key", "service-credential"):
        assert stat.S_IMODE((recorder.state / name).stat().st_mode) == 0o600


def test_the_log_has_a_line_for_every_failure_that_nobody_foresaw(recorder: OutputRecorder) -> None:
    lines = [line for line in recorder.log.read_text().splitlines() if "unexpected failure" in line]
    assert len(lines) >= 2
    assert all("ValidationError" in line for line in lines)


@pytest.mark.parametrize(
    "channel", ["log", "table", "queue", "connector", "response body", "response headers", "state folder"]
)
def test_a_leak_planted_on_purpose_is_found(recorder: OutputRecorder, channel: str) -> None:
    planted = unique_secret("p")
    known = len(recorder.outputs)
    match channel:
        case "log":
            recorder.run_command("print", text=f"password={planted}")
        case "table":
            recorder.run_command("spoil", id=recorder.ids["source"], text=json.dumps({"x": planted}))
        case "queue":
            recorder.run_command("send", text=planted)
        case "connector":
            recorder.doubles.connect_double.preload(["planted"], config={"database.password": planted})
        case "response body":
            recorder.call("POST", "/connect/clusters/x", {"name": "x"})
            recorder.post_ok(
                "/sources",
                {
                    **_shown(recorder, f"/sources/{recorder.ids['plain source']}"),
                    "name": "leaky",
                    "description": planted,
                    "credentials": {},
                },
            )
        case "response headers":
            recorder.call("GET", "/sources", headers={"X-Correlation-ID": _header_safe(planted)})
        case "state folder":
            (recorder.state / "planted").write_text(planted)
    searched = {"planted": _header_safe(planted) if channel == "response headers" else planted}
    found = find_leaks(searched, recorder.everything())
    assert channel in {leak.channel for leak in found}
    del recorder.outputs[known:]


def _header_safe(text: str) -> str:
    return "".join(letter for letter in text if letter.isascii() and letter.isalnum())


@pytest.mark.parametrize("offset", range(3))
def test_a_secret_in_any_dress_is_found(offset: int) -> None:
    secret = unique_secret("x")
    text = b"a" * offset + secret.encode() + b"after"
    for dressed in (
        text, base64.b64encode(text), base64.urlsafe_b64encode(text), text.hex().encode(), quote(text).encode(),
        json.dumps(secret).encode(), json.dumps(json.dumps(secret)).encode(), secret.encode()[3:16],
    ):  # fmt: skip
        assert find_leaks({"secret": secret}, [CapturedOutput("log", "l", b"before " + dressed)]), dressed


def test_what_is_no_secret_is_not_found() -> None:
    secret = unique_secret("x")
    # Spaces between: one more letter could by chance be the secret's next one.
    other = " ".join((unique_secret("x"), secret[:11], base64.b64encode(secret[:8].encode()).decode()))
    assert find_leaks({"secret": secret}, [CapturedOutput("log", "l", other.encode())]) == []
