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

from infra.local.doubles.connect_faults import Effect
from tests.support.leaks import Exhibit, Leak, leaks
from tests.support.output_recorder import Cage, canary, start_cage
from tests.support.waiting import eventually

pytestmark = pytest.mark.thorough

Json = dict[str, Any]
LEGAL: tuple[tuple[str, str, str], ...] = (
    # secret, channel, beginning of the place
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
            (leak.secret, leak.channel) == (secret, channel) and leak.place.startswith(place)
            for secret, channel, place in LEGAL
        )
    ]


@pytest.fixture(scope="module")
def cage() -> Iterator[Cage]:
    """A Headgate to which every kind of secret was given, and to which everything bad has happened."""
    state = Path(tempfile.mkdtemp(prefix="headgate-canaries-"))
    with ExitStack() as ends:
        ends.callback(shutil.rmtree, state, ignore_errors=True)
        built = start_cage(state, ends)
        _live(built)
        _suffer(built)
        yield built


def _database(cage: Cage, name: str, password: str) -> Json:
    quoted = password.replace("'", "''")
    with cage.postgresql.connect() as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN REPLICATION PASSWORD '{quoted}'".encode())
        connection.execute(f"CREATE DATABASE {name} OWNER {name}".encode())
    with cage.postgresql.connect(name) as connection:
        connection.execute(f"SET ROLE {name}".encode())
        connection.execute(b"CREATE SCHEMA shop")
        connection.execute(b"CREATE TABLE shop.orders (id bigint PRIMARY KEY, note text)")
    where = {"host": "127.0.0.1", "port": cage.postgresql.port, "database_name": name, "username": name}
    return {"name": name, "provider": "postgresql", "config": where, "credentials": {"password": password}}


def _live(cage: Cage) -> None:
    """The main job, as people do it."""
    given = cage.secrets
    source = _database(cage, "shop_source", given["source password"])
    source["credentials"]["ca_certificate"] = given["CA certificate"]
    stored = cage.made("/sources", source)
    cage.ids["source"] = stored["id"]
    stored = cage.made("/destinations", _database(cage, "shop_target", given["destination password"]))
    cage.ids["destination"] = stored["id"]
    kafka = {
        "name": "secured", "bootstrap_servers": cage.doubles.kafka, "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN", "username": "u", "credentials": {"password": given["Kafka password"]},
    }  # fmt: skip
    cage.made("/stream/clusters", kafka)
    stream = cage.made("/stream/clusters", {"name": "s", "bootstrap_servers": cage.doubles.kafka})["id"]
    connect = {
        "name": "c", "base_url": cage.doubles.connect, "stream_cluster_id": stream, "username": "u",
        "credentials": {"password": given["Connect password"]},
    }  # fmt: skip
    cage.ids["connect"] = cage.made("/connect/clusters", connect)["id"]
    # The certificate is no certificate: what needs one fails, and then the source goes on without it.
    cage.call("POST", f"/sources/{cage.ids['source']}/test")
    plain = {**source, "name": "plain", "credentials": {"password": given["source password"]}}
    cage.ids["plain source"] = cage.made("/sources", plain)["id"]
    job = cage.made(f"/sources/{cage.ids['plain source']}/discover", None, 202)
    eventually(lambda: cage.call("GET", f"/jobs/{job['id']}").json()["status"], lambda seen: seen == "COMPLETED")
    body = {
        "name": "p", "source_id": cage.ids["plain source"], "stream_cluster_id": stream,
        "connect_cluster_id": cage.ids["connect"], "topic_prefix": "p",
        "tables": [{"schema_name": "shop", "table_name": "orders"}],
    }  # fmt: skip
    cage.made("/pipelines/preview", body, 200)
    pipeline = cage.made("/pipelines", body)["id"]
    cage.ids["pipeline"] = pipeline
    cage.made(f"/pipelines/{pipeline}/deploy", None, 200)
    cage.doubles.kafka_double.state.create_topic("p.shop.orders")
    mapping = {"topic": "p.shop.orders", "schema_name": "shop", "table_name": "orders"}
    delivery = {"pipeline_id": pipeline, "name": "d", "mappings": [mapping]}
    where = f"/destinations/{cage.ids['destination']}"
    cage.made(f"{where}/preview", delivery, 200)
    cage.ids["delivery"] = cage.made(f"{where}/deploy", delivery)["id"]
    cage.order(do="fire", schedule="dispatch")
    answered = {"Idempotency-Key": "canary-key-1"}
    cage.secrets["kept answer"] = canary("i")
    noted = {"name": "noted", "description": cage.secrets["kept answer"], **_without_name(source)}
    for _ in range(2):
        assert cage.call("POST", "/sources", noted, headers=answered).status_code == 201


def _without_name(body: Json) -> Json:
    return {key: value for key, value in body.items() if key != "name"}


def _suffer(cage: Cage) -> None:
    """What goes wrong for people, and what enemies try."""
    given, ids = cage.secrets, cage.ids
    wrong = {"credentials": {"password": given["wrong password"]}}
    body = {**_shown(cage, f"/sources/{ids['plain source']}"), "name": "wrong", **wrong}
    refused = cage.made("/sources", body)["id"]
    assert cage.made(f"/sources/{refused}/test", None, 200)["success"] is False
    assert cage.made("/destinations/test-connection", _without_name(body), 200)["success"] is False
    cage.made("/destinations", body)
    cage.call("POST", "/auth/login", {"email": "admin@headgate.local", "password": given["wrong password"]})
    cage.call("GET", "/internal/secrets/x", headers={"Authorization": f"Bearer {_ascii(given['wrong password'])}"})
    cage.call("GET", "/sources", headers={"Cookie": f"headgate_session=x.{given['wrong password'].encode().hex()}"})
    _hand_out_secrets(cage)
    for secret in ("source password", "wrong password"):
        _send_malformed(cage, given[secret])
    _break_connect(cage)
    cage.order(do="spoil", id=ids["source"], text=json.dumps({"password": given["source password"]}))
    assert cage.call("GET", f"/sources/{ids['source']}").status_code == 500
    assert cage.call("GET", "/sources").status_code == 500
    for path in ("/audit", "/pipelines", f"/pipelines/{ids['pipeline']}", "/deliveries", "/connect/clusters"):
        assert cage.call("GET", path).status_code == 200
    for path in ("/openapi.json", "/docs", "/health"):
        assert cage.call("GET", path).status_code == 200


def _ascii(text: str) -> str:
    """What a header can carry of it: two windows and more."""
    return text.encode("ascii", "ignore").decode()


def _shown(cage: Cage, path: str) -> Json:
    shown = cage.call("GET", path).json()
    return {name: shown[name] for name in ("name", "provider", "config")}


def _hand_out_secrets(cage: Cage) -> None:
    """To Connect's plug-in, and to nobody else."""
    references = [
        json.dumps(cage.doubles.connect_double.config_of(name)) for name in cage.doubles.connect_double.names()
    ]
    uuids = {text.partition("${headgate:")[2].partition(":")[0] for text in references} - {""}
    assert len(uuids) == 2
    for uuid in uuids:
        trusted = {"Authorization": f"Bearer {cage.credential}"}
        assert cage.call("GET", f"/internal/secrets/{uuid}", headers=trusted).status_code == 200
        assert cage.call("GET", f"/internal/secrets/{uuid}").status_code == 403


def _send_malformed(cage: Cage, secret: str) -> None:
    """Every way in which a secret can stand in a request that is refused."""
    fields = {
        "/sources": ("password", "ca_certificate"), "/destinations/test-connection": ("password", "ca_certificate"),
        "/destinations": ("password", "ca_certificate"), "/stream/clusters": ("password",),
        "/connect/clusters": ("password",),
    }  # fmt: skip
    for path, names in fields.items():
        for name in names:
            for value in ({"deep": secret}, [secret], secret * 2000):
                assert cage.call("POST", path, {"name": "x", "credentials": {name: value}}).status_code == 422
        for extra in (
            {"credentials": {"pasword": secret}},
            {secret: 1},
            {"credentials": secret},
            {"name": {"a": secret}},
        ):
            assert cage.call("POST", path, extra).status_code == 422
    login = (
        {"email": {"a": secret}, "password": secret},
        {"email": secret, "password": [secret]},
        {"password": secret},
    )
    for body in login:
        assert cage.call("POST", "/auth/login", body).status_code in (401, 422)
    for text in (f'{{"password": "{secret}', f'{{"a": 1, "a": "{secret}"}}', f'"{secret}"', f"password={secret}"):
        for kind in ("application/json", "text/plain"):
            raw = cage.call("POST", "/sources", headers={"Content-Type": kind}, content=text.encode())
            assert raw.status_code in (400, 415, 422)
    assert cage.call("GET", "/sources", params={"password": secret}).status_code == 422
    assert cage.call("GET", "/sources", params={"cursor": secret}).status_code in (400, 422)
    cage.call("GET", f"/sources/{secret.encode().hex()}")
    cage.call(
        "POST", "/sources", {}, headers={"Idempotency-Key": secret.encode().hex(), "If-Match": secret.encode().hex()}
    )


def _break_connect(cage: Cage) -> None:
    """Connect refuses, falls silent, and tells the secret in its traces."""
    given, double, pipeline = cage.secrets, cage.doubles.connect_double, f"/pipelines/{cage.ids['pipeline']}"
    for effect in (Effect.GARBAGE, Effect.TIMED_OUT, Effect.NOT_READY, Effect.LOSE_REPLY):
        double.plant(effect, None, "/connectors", times=1)
        cage.call("POST", f"{pipeline}/restart")
    double.faults.clear()
    trace = (
        f"org.postgresql.util.PSQLException: FATAL: password authentication failed: {given['source password']}\n"
        f"\tat jdbc:postgresql://h/db?password={given['destination password']}&user=u\n{given['service credential']}"
    )
    for name in double.names():
        double.fail_task(name, trace)
    for path in (f"{pipeline}/status", f"/deliveries/{cage.ids['delivery']}/status"):
        assert cage.call("GET", path).json()["observed_state"] in ("DEGRADED", "FAILED")
    cage.order(do="fire", schedule="dispatch")
    eventually(lambda: cage.call("GET", pipeline).json()["observed_state"], lambda seen: seen in ("DEGRADED", "FAILED"))


def test_no_secret_is_anywhere_but_where_it_belongs(cage: Cage) -> None:
    kept = {name: secret for name, secret in cage.secrets.items() if name != "kept answer"}
    assert [str(leak) for leak in illegal(leaks(kept, cage.everything())) if not _spoiled(cage, leak)] == []


def _spoiled(cage: Cage, leak: Leak) -> bool:
    """The row that the test itself had spoiled, to see what an unexpected exception tells."""
    return (leak.secret, leak.channel, leak.place) == ("source password", "table", "headgate-sources")


def test_only_one_row_was_spoiled_by_the_test(cage: Cage) -> None:
    found = [exhibit for exhibit in cage.everything() if exhibit.channel == "table" and "-sources" in exhibit.place]
    assert [len(leaks({"source password": cage.secrets["source password"]}, [one])) for one in found].count(1) == 1


def test_each_secret_was_seen_where_it_belongs(cage: Cage) -> None:
    """Otherwise nothing was given, or nothing was recorded, and finding nothing would mean nothing."""
    seen = {(leak.secret, leak.channel) for leak in leaks(cage.secrets, cage.everything())}
    assert {
        ("session token", "response headers"),
        ("source password", "response body"),
        ("destination password", "response body"),
        ("master key", "state folder"),
        ("service credential", "state folder"),
    } <= seen


def test_an_answer_kept_for_a_repeated_request_is_sealed(cage: Cage) -> None:
    rows = [one for one in cage.everything() if (one.channel, one.place) == ("table", "headgate-idempotency")]
    assert rows
    assert leaks({"kept answer": cage.secrets["kept answer"]}, rows) == []


def test_files_that_hold_secrets_are_their_owners_alone(cage: Cage) -> None:
    for name in ("master-key", "service-credential"):
        assert stat.S_IMODE((cage.state / name).stat().st_mode) == 0o600


def test_the_log_has_a_line_for_every_failure_that_nobody_foresaw(cage: Cage) -> None:
    lines = [line for line in cage.log.read_text().splitlines() if "unexpected failure" in line]
    assert len(lines) >= 2
    assert all("ValidationError" in line for line in lines)


@pytest.mark.parametrize(
    "channel", ["log", "table", "queue", "connector", "response body", "response headers", "state folder"]
)
def test_a_leak_planted_on_purpose_is_found(cage: Cage, channel: str) -> None:
    planted = canary("p")
    known = len(cage.exhibits)
    match channel:
        case "log":
            cage.order(do="print", text=f"password={planted}")
        case "table":
            cage.order(do="spoil", id=cage.ids["source"], text=json.dumps({"x": planted}))
        case "queue":
            cage.order(do="send", text=planted)
        case "connector":
            cage.doubles.connect_double.preload(["planted"], config={"database.password": planted})
        case "response body":
            cage.call("POST", "/connect/clusters/x", {"name": "x"})
            cage.made(
                "/sources",
                {
                    **_shown(cage, f"/sources/{cage.ids['plain source']}"),
                    "name": "leaky",
                    "description": planted,
                    "credentials": {},
                },
            )
        case "response headers":
            cage.call("GET", "/sources", headers={"X-Correlation-ID": _header_safe(planted)})
        case "state folder":
            (cage.state / "planted").write_text(planted)
    searched = {"planted": _header_safe(planted) if channel == "response headers" else planted}
    found = leaks(searched, cage.everything())
    assert channel in {leak.channel for leak in found}
    del cage.exhibits[known:]


def _header_safe(text: str) -> str:
    return "".join(letter for letter in text if letter.isascii() and letter.isalnum())


@pytest.mark.parametrize("offset", range(3))
def test_a_secret_in_any_dress_is_found(offset: int) -> None:
    secret = canary("x")
    text = b"a" * offset + secret.encode() + b"after"
    for dressed in (
        text, base64.b64encode(text), base64.urlsafe_b64encode(text), text.hex().encode(), quote(text).encode(),
        json.dumps(secret).encode(), json.dumps(json.dumps(secret)).encode(), secret.encode()[3:16],
    ):  # fmt: skip
        assert leaks({"secret": secret}, [Exhibit("log", "l", b"before " + dressed)]), dressed


def test_what_is_no_secret_is_not_found() -> None:
    secret = canary("x")
    # Spaces between: one more letter could by chance be the secret's next one.
    other = " ".join((canary("x"), secret[:11], base64.b64encode(secret[:8].encode()).decode()))
    assert leaks({"secret": secret}, [Exhibit("log", "l", other.encode())]) == []
