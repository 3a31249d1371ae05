"""What users and attackers do with a Headgate while its output is recorded: every kind of secret, many failures."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from infra.local.doubles.connect_faults import FaultEffect
from infra.local.doubles.notification_receivers import Reply
from tests.support.apps.output_recorder import TOKEN_HOST, OutputRecorder, start_recorder, unique_secret
from tests.support.openid.double import follow
from tests.support.waiting import eventually

Json = dict[str, Any]


@contextmanager
def recorded_day() -> Iterator[OutputRecorder]:
    """A Headgate that has got every kind of secret and has had many failures."""
    state = Path(tempfile.mkdtemp(prefix="headgate-leaks-"))
    with ExitStack() as ends:
        ends.callback(shutil.rmtree, state, ignore_errors=True)
        recorder = start_recorder(state, ends)
        _do_the_main_job(recorder)
        _use_channels(recorder)
        _use_accounts(recorder)
        _sign_on(recorder)
        _cause_failures(recorder)
        yield recorder


def searched(recorder: OutputRecorder) -> dict[str, str]:
    """The secrets that must be nowhere. What a user had stored for a repeated request is looked for in one table only,
    and one row has a password in clear text: the scenario itself has written it, so that it cannot be read.
    """
    return {name: secret for name, secret in recorder.secrets.items() if name != "stored response"}


def _database(recorder: OutputRecorder, name: str, password: str) -> Json:
    quoted = password.replace("'", "''")
    with recorder.postgresql.connect() as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN REPLICATION PASSWORD '{quoted}'".encode())
        connection.execute(f"CREATE DATABASE {name} OWNER {name}".encode())
    with recorder.postgresql.connect(name) as connection:
        connection.execute(f"SET ROLE {name}".encode())
        connection.execute(b"CREATE SCHEMA shop")
        connection.execute(b"CREATE TABLE shop.orders (id bigint PRIMARY KEY, note text)")
    where = {"host": "127.0.0.1", "port": recorder.database.port, "database_name": name, "username": name}
    return {"name": name, "provider": "postgresql", "config": where, "credentials": {"password": password}}


def _register_kafka(recorder: OutputRecorder) -> str:
    """Clusters of every kind of credentials; the id of one that works, which asks for a password."""
    secrets, pems, path = recorder.secrets, recorder.pems, "/stream/clusters"
    common = {"bootstrap_servers": f"127.0.0.1:{recorder.kafka.port}"}
    secured = {
        **common, "name": "secured", "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN", "username": "u",
        "credentials": {"password": secrets["Kafka password"]},
    }  # fmt: skip
    token = {
        **common, "name": "token", "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER",
        "token_endpoint_url": f"https://{TOKEN_HOST}/token", "client_id": "c",
        "credentials": {"client_secret": secrets["OAuth client secret"]},
    }  # fmt: skip
    certificates = {
        "ca_certificate": pems["CA certificate"], "client_certificate": pems["client certificate"],
        "client_key": pems["client key"],
    }  # fmt: skip
    encrypted = {**common, "name": "encrypted", "security_protocol": "SSL", "credentials": certificates}
    for body in (token, encrypted):
        recorder.post_ok(path, body)
    return str(recorder.post_ok(path, secured)["id"])


def _do_the_main_job(recorder: OutputRecorder) -> None:
    """The main job, as a user does it."""
    secrets = recorder.secrets
    source = _database(recorder, "shop_source", secrets["source password"])
    source["credentials"]["ca_certificate"] = recorder.pems["CA certificate"]
    stored = recorder.post_ok("/sources", source)
    recorder.ids["source"] = stored["id"]
    stored = recorder.post_ok("/destinations", _database(recorder, "shop_target", secrets["destination password"]))
    recorder.ids["destination"] = stored["id"]
    stream = _register_kafka(recorder)
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
    _use_connection(recorder, delivery)
    recorder.run_command("fire", schedule="dispatch")
    _repeat_a_request(recorder, source)


def _use_connection(recorder: OutputRecorder, delivery: Json) -> None:
    """A connection is registered, tested, used by a source and by the sink of a destination, and changed."""
    path, body = "/connections", _database(recorder, "shop_shared", recorder.secrets["connection password"])
    connection = recorder.post_ok(path, body)["id"]
    recorder.post_ok(f"{path}/test", _without_name(body), 200)
    recorder.post_ok(f"{path}/test", {"connection_id": connection}, 200)
    recorder.post_ok("/destinations/test-connection", {"connection_id": connection}, 200)
    recorder.post_ok(f"{path}/{connection}/test", None, 200)
    uses = {"name": "of a connection", "connection_id": connection}
    source, destination = (recorder.post_ok(kind, uses)["id"] for kind in ("/sources", "/destinations"))
    recorder.post_ok(f"/sources/{source}/test", None, 200)
    mapped = {**delivery, "name": "by a connection"}
    recorder.post_ok(f"/destinations/{destination}/preview", mapped, 200)
    recorder.post_ok(f"/destinations/{destination}/deploy", mapped)
    assert recorder.call("PUT", f"{path}/{connection}", {**body, "description": "changed"}).status_code == 200
    own = {"name": "of a connection", **{key: body[key] for key in ("provider", "config")}}
    assert recorder.call("PUT", f"/sources/{source}", own).status_code == 422
    for one in (path, f"{path}/{connection}", f"/audit?resource_id={connection}"):
        assert recorder.call("GET", one).status_code == 200
    assert recorder.call("DELETE", f"{path}/{connection}").status_code == 409


def _repeat_a_request(recorder: OutputRecorder, source: Json) -> None:
    """The response to the first is stored for the second."""
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

    webhook = recorder.post_ok(path, {"name": "webhook test", "provider": "webhook", "config": configs["webhook"]})
    assert recorder.post_ok(f"{path}/{webhook['id']}/test", None, 200)["delivered"] is False


def _use_accounts(recorder: OutputRecorder) -> None:
    """A person joins, signs in, makes a token for a program and changes the password; others guess."""
    secrets, person, email = recorder.secrets, recorder.signed_out(), "person@example.com"
    body, repeated = {"email": email, "role": "Ops"}, {"Idempotency-Key": "leak-test-invite"}
    for _ in range(2):
        invited = recorder.call("POST", "/users/invite", body, headers=repeated)
        assert invited.status_code == 201, invited.text
    secrets["invite token"] = invited.json()["token"]
    invite = f"/invites/{secrets['invite token']}"
    for wrong in ([secrets["user password"]], {"a": secrets["user password"]}, secrets["user password"] * 10):
        assert person.call("POST", f"{invite}/accept", {"password": wrong}).status_code == 422
    assert person.call("GET", invite).status_code == 200
    person.post_ok(f"{invite}/accept", {"password": secrets["user password"]}, 200)
    assert person.call("GET", invite).status_code == 404
    person.post_ok("/auth/login", {"email": email, "password": secrets["user password"]}, 200)
    made = person.post_ok("/auth/tokens", {"name": "pipeline of a program", "role": "Viewer"})
    secrets["API token"] = made["token"]
    _use_token(recorder.signed_out(), secrets["API token"])
    for current in (secrets["wrong password"], [secrets["user password"]]):
        change = {"current_password": current, "new_password": secrets["new user password"]}
        assert 400 <= person.call("POST", "/auth/password", change).status_code < 500
    change = {"current_password": secrets["user password"], "new_password": secrets["new user password"]}
    person.post_ok("/auth/password", change, 200)
    secrets["user session token"] = next(iter(person.http.cookies.jar)).value.partition(".")[2]
    assert recorder.call("GET", "/users").status_code == recorder.call("GET", "/auth/tokens").status_code == 200
    person.http.close()


def _use_token(program: OutputRecorder, token: str) -> None:
    """As it is, cut, and in the wrong places."""
    for given, status in ((token, 200), (token[:-3], 401), (f"{token} {token}", 401)):
        headers = {"Authorization": f"Bearer {given}"}
        assert program.call("GET", "/sources", headers=headers).status_code == status
    assert program.call("GET", "/sources", params={"token": token}).status_code == 401
    assert program.call("GET", f"/auth/tokens/{token}").status_code in (401, 404)
    assert program.call("GET", f"/invites/{token}").status_code == 404
    program.http.close()


def _sign_on(recorder: OutputRecorder) -> None:
    """By single sign-on, after the provider has refused our secret, and a browser has brought another code."""
    secrets, provider, person, issued = recorder.secrets, recorder.provider, recorder.signed_out(), []
    provider.tokens = lambda claims: issued.append(provider.signed(claims)) or issued[-1]
    for name in ("a wrong secret", "a wrong code", ""):
        provider.client_secret = "another" if name == "a wrong secret" else secrets["single sign-on secret"]
        started = person.call("GET", "/auth/oidc/login")
        assert started.status_code == 302, started.text
        secrets["sign-on ticket"] = person.http.cookies["headgate_sign_on"]
        query = follow(started.headers["Location"])
        secrets["authorization code"] = query["code"]
        query |= {"code": "another"} if name == "a wrong code" else {}
        finished = person.call("GET", "/auth/oidc/callback", params=query)
        assert (finished.status_code == 302) is not bool(name), finished.text
    secrets["ID token"] = issued[-1].rpartition(".")[2]
    secrets["session token by sign-on"] = person.http.cookies["headgate_session"].rpartition(".")[2]
    person.http.close()


def _without_name(body: Json) -> Json:
    return {key: value for key, value in body.items() if key != "name"}


def _cause_failures(recorder: OutputRecorder) -> None:
    """Failures that happen to users, and requests of attackers."""
    secrets, ids = recorder.secrets, recorder.ids
    wrong = {"credentials": {"password": secrets["wrong password"]}}
    body = {**shown(recorder, f"/sources/{ids['plain source']}"), "name": "wrong", **wrong}
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
    assert recorder.call("GET", f"/sources/{ids['source']}").status_code == 409
    named = recorder.call("GET", "/sources")
    assert (named.status_code, named.headers["x-unreadable"]) == (200, f"source/{ids['source']}")
    lists = ("/audit", "/audit/verify", "/operations/keys", "/pipelines", "/deliveries", "/connect/clusters")
    for path in (*lists, f"/pipelines/{ids['pipeline']}"):
        assert recorder.call("GET", path).status_code == 200
    for path in ("/openapi.json", "/docs", "/health"):
        assert recorder.call("GET", path).status_code == 200
    read_metrics(recorder)
    _crash(recorder)


def read_metrics(recorder: OutputRecorder) -> None:
    """With the token; without it, and with another one, the response is 401."""
    right, wrong = recorder.secrets["metrics token"], _ascii(recorder.secrets["wrong password"])
    for token, status in ((right, 200), (wrong, 401)):
        headers = {"Authorization": f"Bearer {token}"}
        assert recorder.call("GET", "/metrics", headers=headers).status_code == status


def _crash(recorder: OutputRecorder) -> None:
    """A request crashes with a secret in a local variable, and in the messages of an exception and of its cause; so
    does a schedule.
    """
    for channel in ("crash", "crash of a schedule"):
        recorder.run_command("plant", channel=channel, text=recorder.secrets["wrong password"])
    assert recorder.call("GET", "/sources").status_code == 500
    recorder.run_command("fire", schedule="dispatch")
    recorder.run_command("remove planted")


def _ascii(text: str) -> str:
    """The ASCII characters of the text, since a header can have no others; still longer than two windows."""
    return text.encode("ascii", "ignore").decode()


def shown(recorder: OutputRecorder, path: str) -> Json:
    """What a body of a system has to repeat."""
    shown = recorder.call("GET", path).json()
    return {name: shown[name] for name in ("name", "provider", "config")}


def _read_secrets_as_connect(recorder: OutputRecorder) -> None:
    """With the service credential; without it the response is 403."""
    references = [
        json.dumps(recorder.doubles.connect_double.config_of(name)) for name in recorder.doubles.connect_double.names()
    ]
    uuids = {text.partition("${headgate:")[2].partition(":")[0] for text in references} - {""}
    assert len(uuids) == 3
    for uuid in uuids:
        authorized = {"Authorization": f"Bearer {recorder.credential}"}
        assert recorder.call("GET", f"/internal/secrets/{uuid}", headers=authorized).status_code == 200
        assert recorder.call("GET", f"/internal/secrets/{uuid}").status_code == 403


def _send_malformed(recorder: OutputRecorder, secret: str) -> None:
    """Secrets in every part of requests that are refused."""
    fields = {
        "/sources": ("password", "ca_certificate"), "/destinations/test-connection": ("password", "ca_certificate"),
        "/destinations": ("password", "ca_certificate"), "/connections": ("password", "ca_certificate"),
        "/connections/test": ("password",), "/stream/clusters": ("password",), "/connect/clusters": ("password",),
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
