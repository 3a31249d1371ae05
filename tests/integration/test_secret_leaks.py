"""Random secrets are sent to a Headgate in every possible way, many failures follow, then all output is searched."""

import base64
import json
import shutil
import stat
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from infra.local.doubles.connect_faults import FaultEffect
from infra.local.doubles.notification_receivers import Reply
from tests.support.leaks import CapturedOutput, Leak, find_leaks
from tests.support.output_recorder import OutputRecorder, start_recorder, unique_secret
from tests.support.waiting import eventually

pytestmark = pytest.mark.thorough

Json = dict[str, Any]
ALLOWED: tuple[tuple[str, str, str], ...] = (
    # secret, channel, start of the location
    ("session token", "response headers", "POST /api/v1/auth/login"),
    ("source password", "response body", "GET /internal/secrets/"),
    ("destination password", "response body", "GET /internal/secrets/"),
    ("CA certificate", "response body", "GET /internal/secrets/"),
    ("master key", "state folder", "master-key"),
    ("service credential", "state folder", "service-credential"),
)
"""The only outputs that may contain a secret. Requests with secrets are not recorded."""


def forbidden(found: list[Leak]) -> list[Leak]:
    """Leaks that are not allowed."""
    return [
        leak
        for leak in found
        if not any(
            (leak.secret, leak.channel) == (secret, channel) and leak.location.startswith(location)
            for secret, channel, location in ALLOWED
        )
    ]


@pytest.fixture(scope="module")
def recorder() -> Iterator[OutputRecorder]:
    """A Headgate that has got every kind of secret and has had many failures."""
    state = Path(tempfile.mkdtemp(prefix="headgate-leaks-"))
    with ExitStack() as ends:
        ends.callback(shutil.rmtree, state, ignore_errors=True)
        recorder = start_recorder(state, ends)
        _do_the_main_job(recorder)
        _use_channels(recorder)
        _cause_failures(recorder)
        yield recorder


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


def _do_the_main_job(recorder: OutputRecorder) -> None:
    """The main job, as a user does it."""
    secrets = recorder.secrets
    source = _database(recorder, "shop_source", secrets["source password"])
    lines = textwrap.wrap(secrets["CA certificate"], 64)
    pem = "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----"])
    source["credentials"]["ca_certificate"] = pem
    stored = recorder.post_ok("/sources", source)
    recorder.ids["source"] = stored["id"]
    stored = recorder.post_ok("/destinations", _database(recorder, "shop_target", secrets["destination password"]))
    recorder.ids["destination"] = stored["id"]
    kafka = {
        "name": "secured", "bootstrap_servers": recorder.doubles.kafka, "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN", "username": "u", "credentials": {"password": secrets["Kafka password"]},
    }  # fmt: skip
    recorder.post_ok("/stream/clusters", kafka)
    stream = recorder.post_ok("/stream/clusters", {"name": "s", "bootstrap_servers": recorder.doubles.kafka})["id"]
    connect = {
        "name": "c", "base_url": recorder.doubles.connect, "stream_cluster_id": stream, "username": "u",
        "credentials": {"password": secrets["Connect password"]},
    }  # fmt: skip
    recorder.ids["connect"] = recorder.post_ok("/connect/clusters", connect)["id"]
    recorder.call("POST", f"/sources/{recorder.ids['source']}/test")
    plain = {**source, "name": "plain", "credentials": {"password": secrets["source password"]}}
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
    repeated = {"Idempotency-Key": "leak-test-key-1"}
    recorder.secrets["stored response"] = unique_secret("i")
    described = {"name": "described", "description": recorder.secrets["stored response"], **_without_name(source)}
    for _ in range(2):
        assert recorder.call("POST", "/sources", described, headers=repeated).status_code == 201


def _use_channels(recorder: OutputRecorder) -> None:
    """Channels are created, changed and tried; the receivers refuse, and repeat what they got."""
    secrets, path = recorder.secrets, "/notification-channels"
    configs: dict[str, Json] = {
        "chat-webhook": {"webhook_url": f"{recorder.chat.url}/services/{secrets['chat webhook']}"},
        "bot-chat": {"bot_token": f"1:{secrets['bot token']}", "chat_id": -1},
        "webhook": {
            "url": f"https://93.184.215.14/{secrets['webhook path']}?key={secrets['webhook path']}",
            "authorization": f"Bearer {secrets['webhook authorization']}",
            "headers": {"X-Key": secrets["webhook header"]},
            "signing_secret": secrets["signing secret"],
        },
    }
    repeated = {"Location": f"https://a.example/{secrets['chat webhook']}", "Set-Cookie": secrets["bot token"]}
    for provider, config in configs.items():
        body = {"name": provider, "provider": provider, "config": config}
        one = f"{path}/{recorder.post_ok(path, body)['id']}"
        assert recorder.call("PUT", one, {**body, "enabled": False}).status_code == 200
        assert recorder.call("GET", one).status_code == recorder.call("GET", path).status_code == 200
        for name, value in config.items():
            for wrong in ({"deep": value}, [value], str(value) * 1000, {str(value): str(value)}):
                refused = {**body, "config": {**config, name: wrong}}
                assert recorder.call("PUT", one, refused).status_code == 422, (name, wrong)
    for receiver, provider in ((recorder.chat, "chat-webhook"), (recorder.bot, "bot-chat")):
        for status in (200, 302, 403):
            receiver.script(Reply(status=status, body=json.dumps(configs), headers=repeated))
            channel = recorder.post_ok(
                path, {"name": f"{provider} {status}", "provider": provider, "config": configs[provider]}
            )
            assert recorder.post_ok(f"{path}/{channel['id']}/test", None, 200)["delivered"] is False


def _without_name(body: Json) -> Json:
    return {key: value for key, value in body.items() if key != "name"}


def _cause_failures(recorder: OutputRecorder) -> None:
    """Failures that happen to users, and requests of attackers."""
    secrets, ids = recorder.secrets, recorder.ids
    wrong = {"credentials": {"password": secrets["wrong password"]}}
    body = {**_shown(recorder, f"/sources/{ids['plain source']}"), "name": "wrong", **wrong}
    refused = recorder.post_ok("/sources", body)["id"]
    assert recorder.post_ok(f"/sources/{refused}/test", None, 200)["success"] is False
    assert recorder.post_ok("/destinations/test-connection", _without_name(body), 200)["success"] is False
    recorder.post_ok("/destinations", body)
    recorder.call("POST", "/auth/login", {"email": "admin@headgate.local", "password": secrets["wrong password"]})
    recorder.call(
        "GET", "/internal/secrets/x", headers={"Authorization": f"Bearer {_ascii(secrets['wrong password'])}"}
    )
    recorder.call(
        "GET", "/sources", headers={"Cookie": f"headgate_session=x.{secrets['wrong password'].encode().hex()}"}
    )
    _read_secrets_as_connect(recorder)
    for secret in ("source password", "wrong password"):
        _send_malformed(recorder, secrets[secret])
    _break_connect(recorder)
    recorder.run_command("corrupt", id=ids["source"], text=json.dumps({"password": secrets["source password"]}))
    assert recorder.call("GET", f"/sources/{ids['source']}").status_code == 500
    assert recorder.call("GET", "/sources").status_code == 500
    for path in ("/audit", "/pipelines", f"/pipelines/{ids['pipeline']}", "/deliveries", "/connect/clusters"):
        assert recorder.call("GET", path).status_code == 200
    for path in ("/openapi.json", "/docs", "/health"):
        assert recorder.call("GET", path).status_code == 200


def _ascii(text: str) -> str:
    """The ASCII characters of the text, since a header can have no others; still longer than two windows."""
    return text.encode("ascii", "ignore").decode()


def _shown(recorder: OutputRecorder, path: str) -> Json:
    shown = recorder.call("GET", path).json()
    return {name: shown[name] for name in ("name", "provider", "config")}


def _read_secrets_as_connect(recorder: OutputRecorder) -> None:
    """With the service credential; without it the response is 403."""
    references = [
        json.dumps(recorder.doubles.connect_double.config_of(name)) for name in recorder.doubles.connect_double.names()
    ]
    uuids = {text.partition("${headgate:")[2].partition(":")[0] for text in references} - {""}
    assert len(uuids) == 2
    for uuid in uuids:
        authorized = {"Authorization": f"Bearer {recorder.credential}"}
        assert recorder.call("GET", f"/internal/secrets/{uuid}", headers=authorized).status_code == 200
        assert recorder.call("GET", f"/internal/secrets/{uuid}").status_code == 403


def _send_malformed(recorder: OutputRecorder, secret: str) -> None:
    """Secrets in every part of requests that are refused."""
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
    """Connect refuses, does not respond, and puts secrets into its traces."""
    secrets, double, pipeline = (
        recorder.secrets,
        recorder.doubles.connect_double,
        f"/pipelines/{recorder.ids['pipeline']}",
    )
    for effect in (FaultEffect.GARBAGE, FaultEffect.TIMED_OUT, FaultEffect.NOT_READY, FaultEffect.LOSE_REPLY):
        double.plant(effect, None, "/connectors", times=1)
        recorder.call("POST", f"{pipeline}/restart")
    double.faults.clear()
    trace = (
        f"org.postgresql.util.PSQLException: FATAL: password authentication failed: {secrets['source password']}\n"
        f"\tat jdbc:postgresql://h/db?password={secrets['destination password']}&user=u\n"
        f"{secrets['service credential']}"
    )
    for name in double.names():
        double.fail_task(name, trace)
    for path in (f"{pipeline}/status", f"/deliveries/{recorder.ids['delivery']}/status"):
        assert recorder.call("GET", path).json()["observed_state"] in ("DEGRADED", "FAILED")
    recorder.run_command("fire", schedule="dispatch")
    eventually(
        lambda: recorder.call("GET", pipeline).json()["observed_state"], lambda seen: seen in ("DEGRADED", "FAILED")
    )


def test_no_secret_is_in_any_output_where_it_is_not_allowed(recorder: OutputRecorder) -> None:
    searched = {name: secret for name, secret in recorder.secrets.items() if name != "stored response"}
    assert [
        str(leak)
        for leak in forbidden(find_leaks(searched, recorder.everything()))
        if not _in_the_corrupted_row(recorder, leak)
    ] == []


def _in_the_corrupted_row(recorder: OutputRecorder, leak: Leak) -> bool:
    """Whether this is the row that the test itself has corrupted to cause an unexpected exception."""
    return (leak.secret, leak.channel, leak.location) == ("source password", "table", "headgate-sources")


def test_only_one_row_was_corrupted_by_the_test(recorder: OutputRecorder) -> None:
    found = [output for output in recorder.everything() if output.channel == "table" and "-sources" in output.location]
    assert [len(find_leaks({"source password": recorder.secrets["source password"]}, [one])) for one in found].count(
        1
    ) == 1


def test_each_secret_is_found_where_it_is_allowed(recorder: OutputRecorder) -> None:
    """Otherwise the search would prove nothing: no secret was sent, or no output was recorded."""
    seen = {(leak.secret, leak.channel) for leak in find_leaks(recorder.secrets, recorder.everything())}
    assert {
        ("session token", "response headers"),
        ("source password", "response body"),
        ("destination password", "response body"),
        ("master key", "state folder"),
        ("service credential", "state folder"),
    } <= seen


def test_a_response_stored_for_a_repeated_request_is_sealed(recorder: OutputRecorder) -> None:
    rows = [one for one in recorder.everything() if (one.channel, one.location) == ("table", "headgate-idempotency")]
    assert rows
    assert find_leaks({"stored response": recorder.secrets["stored response"]}, rows) == []


def test_files_with_secrets_can_be_read_by_their_owner_only(recorder: OutputRecorder) -> None:
    for name in ("master-key", "service-credential"):
        assert stat.S_IMODE((recorder.state / name).stat().st_mode) == 0o600


def test_the_log_has_a_line_for_every_unexpected_failure(recorder: OutputRecorder) -> None:
    lines = [line for line in recorder.log.read_text().splitlines() if "unexpected failure" in line]
    assert len(lines) >= 2
    assert all("ValidationError" in line for line in lines)


@pytest.mark.parametrize(
    "channel", ["log", "table", "queue", "connector", "response body", "response headers", "state folder"]
)
def test_a_leak_planted_on_purpose_is_found(recorder: OutputRecorder, channel: str) -> None:
    planted = unique_secret("p")
    recorded = len(recorder.outputs)
    match channel:
        case "log":
            recorder.run_command("print", text=f"password={planted}")
        case "table":
            recorder.run_command("corrupt", id=recorder.ids["source"], text=json.dumps({"x": planted}))
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
    del recorder.outputs[recorded:]


def _header_safe(text: str) -> str:
    return "".join(letter for letter in text if letter.isascii() and letter.isalnum())


@pytest.mark.parametrize("offset", range(3))
def test_a_secret_in_any_encoding_is_found(offset: int) -> None:
    secret = unique_secret("x")
    text = b"a" * offset + secret.encode() + b"after"
    for encoded in (
        text, base64.b64encode(text), base64.urlsafe_b64encode(text), text.hex().encode(), quote(text).encode(),
        json.dumps(secret).encode(), json.dumps(json.dumps(secret)).encode(), secret.encode()[3:16],
    ):  # fmt: skip
        assert find_leaks({"secret": secret}, [CapturedOutput("log", "l", b"before " + encoded)]), encoded


def test_text_without_a_secret_is_not_reported() -> None:
    secret = unique_secret("x")
    # Separated by spaces: another letter after a part could by chance be the next one of the secret.
    other = " ".join((unique_secret("x"), secret[:11], base64.b64encode(secret[:8].encode()).decode()))
    assert find_leaks({"secret": secret}, [CapturedOutput("log", "l", other.encode())]) == []
