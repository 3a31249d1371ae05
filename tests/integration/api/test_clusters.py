"""Stream clusters, Connect clusters, plug-ins."""

from collections.abc import Iterator

import pytest

from infra.local.doubles.authority import Authority
from infra.local.doubles.kafka import KafkaDouble
from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, is_uuid, validation_error
from tests.support.apps.sandbox import Json, Sandbox

STREAM = {
    "id", "name", "bootstrap_servers", "security_protocol", "sasl_mechanism", "username", "credentials", "labels",
    "metrics_provider", "status", "last_error", "last_checked_at", "kafka_cluster_id", "version", "created_at",
    "updated_at", "token_endpoint_url", "client_id", "scope",
}  # fmt: skip
CONNECT = {
    "id", "name", "labels", "base_url", "stream_cluster_id", "username", "credentials", "secret_delivery", "status",
    "last_error",
    "last_checked_at", "connect_version", "kafka_cluster_id", "pending_deletions", "pending_creations", "version",
    "created_at", "updated_at",
}  # fmt: skip


def _stream(sandbox: Sandbox, **changes: object) -> Json:
    return {"name": sandbox.name("stream"), "bootstrap_servers": sandbox.doubles.kafka, **changes}


def _connect(sandbox: Sandbox, **changes: object) -> Json:
    body = {"base_url": sandbox.doubles.connect, "stream_cluster_id": sandbox.stream["id"]}
    return {"name": sandbox.name("connect"), **body, **changes}


def test_a_stream_cluster_is_checked_once_when_it_is_registered(sandbox: Sandbox) -> None:
    created = sandbox.admin.post_ok("/stream/clusters", _stream(sandbox))
    assert set(created) == STREAM
    assert is_uuid(created["id"])
    assert (created["status"], created["last_error"], created["kafka_cluster_id"]) == ("HEALTHY", None, "sandbox")
    assert (created["security_protocol"], created["metrics_provider"]) == ("PLAINTEXT", "none")
    assert is_timestamp(created["last_checked_at"])
    assert sandbox.admin.get_ok(f"/stream/clusters/{created['id']}") == created


def test_a_connect_cluster_is_checked_once_when_it_is_registered(sandbox: Sandbox) -> None:
    created = sandbox.admin.post_ok("/connect/clusters", _connect(sandbox, base_url=sandbox.doubles.connect + "/"))
    assert set(created) == CONNECT
    assert (created["status"], created["connect_version"], created["kafka_cluster_id"]) == (
        "HEALTHY",
        "4.3.1",
        "sandbox",
    )
    assert (created["base_url"], created["secret_delivery"]) == (sandbox.doubles.connect, "config-provider")
    assert sandbox.admin.get_ok(f"/connect/clusters/{created['id']}") == created


def test_an_unreachable_cluster_is_registered_as_unhealthy(sandbox: Sandbox) -> None:
    stream = sandbox.admin.post_ok("/stream/clusters", _stream(sandbox, bootstrap_servers="127.0.0.1:1"))
    connect = sandbox.admin.post_ok("/connect/clusters", _connect(sandbox, base_url="http://127.0.0.1:1"))
    for created, code in ((stream, "STREAM_UNAVAILABLE"), (connect, "CONNECT_UNAVAILABLE")):
        assert (created["status"], created["kafka_cluster_id"]) == ("UNHEALTHY", None)
        assert set(created["last_error"]) == {"code", "message", "at"}
        assert created["last_error"]["code"] == code
    plugins = sandbox.admin.get(f"/connect/clusters/{connect['id']}/plugins")
    assert_error(plugins, 503, "CONNECT_UNAVAILABLE")


def test_a_change_checks_again_and_removes_what_was_stored_about_the_old_address(sandbox: Sandbox) -> None:
    body = _connect(sandbox)
    path = f"/connect/clusters/{sandbox.admin.post_ok('/connect/clusters', body)['id']}"
    moved = sandbox.admin.put(path, {**body, "base_url": "http://127.0.0.1:1"}).json()
    assert (moved["status"], moved["connect_version"]) == ("UNHEALTHY", None)
    # Workers on another Kafka cluster would not be the right ones: a Connect cluster stays with its Kafka.
    assert moved["kafka_cluster_id"] == "sandbox"
    assert moved["version"] == 2
    restored = sandbox.admin.put(path, body).json()
    assert (restored["status"], restored["last_error"], restored["kafka_cluster_id"]) == ("HEALTHY", None, "sandbox")


@pytest.mark.parametrize("kind", ["deletions", "creations"])
def test_changes_can_be_confirmed_only_when_they_wait(sandbox: Sandbox, kind: str) -> None:
    assert sandbox.admin.get_ok(f"/connect/clusters/{sandbox.connect['id']}")[f"pending_{kind}"] is None
    path = f"/connect/clusters/{sandbox.connect['id']}/confirm-{kind}"
    assert_error(sandbox.admin.post(path, {"count": 1}), 409, "STATE_CONFLICT")
    for body in ({}, {"count": 0}, {"count": -1}, {"count": "all"}, {"count": 1.5}, {"count": 1, "names": []}):
        assert_error(sandbox.admin.post(path, body), 422, "VALIDATION_FAILED")
    missing = f"/connect/clusters/{UNKNOWN_ID}/confirm-{kind}"
    assert_error(sandbox.admin.post(missing, {"count": 1}), 404, "NOT_FOUND")


@pytest.fixture
def another() -> Iterator[KafkaDouble]:
    """Brokers that Connect does not run on."""
    double = KafkaDouble(cluster_id="another").start()
    yield double
    double.stop()


AUTHORITY = Authority()
PAIR, OTHER = AUTHORITY.sign("headgate"), AUTHORITY.sign("other")
TLS = {"security_protocol": "SSL"}
PLAIN = {"sasl_mechanism": "PLAIN", "username": "u"}
OAUTH = {
    "security_protocol": "SASL_SSL",
    "sasl_mechanism": "OAUTHBEARER",
    "token_endpoint_url": "https://login.example.invalid/oauth/token",
    "client_id": "headgate",
}
MUTUAL = {"client_certificate": PAIR.certificate, "client_key": PAIR.key}
REFUSED: list[tuple[Json, tuple[str, ...], str]] = [
    ({"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN"}, ("username",), "missing"),
    ({"security_protocol": "SASL_SSL", **PLAIN, "username": " "}, ("username",), "missing"),
    (PLAIN, ("sasl_mechanism",), "protocol_without_sasl"),
    ({"security_protocol": "SSL", "sasl_mechanism": "PLAIN"}, ("sasl_mechanism",), "protocol_without_sasl"),
    ({**OAUTH, "token_endpoint_url": None}, ("token_endpoint_url",), "missing"),
    ({**OAUTH, "client_id": None}, ("client_id",), "missing"),
    ({**OAUTH, "token_endpoint_url": "http://login.example/t"}, ("token_endpoint_url",), "https_required"),
    (
        {**OAUTH, "token_endpoint_url": "https://u:p@login.example/t"},
        ("token_endpoint_url",),
        "string_pattern_mismatch",
    ),
    ({**OAUTH, "sasl_mechanism": "PLAIN", "username": "u"}, ("client_id",), "mechanism_without_token"),
    ({"scope": "kafka"}, ("scope",), "mechanism_without_token"),
    ({"credentials": {"client_secret": "s"}}, ("credentials", "client_secret"), "mechanism_without_token"),
    ({"credentials": MUTUAL}, ("credentials", "client_certificate"), "protocol_without_tls"),
    (
        {"credentials": {"ca_certificate": AUTHORITY.certificate}},
        ("credentials", "ca_certificate"),
        "protocol_without_tls",
    ),
    ({**TLS, "credentials": {"ca_certificate": "-----"}}, ("credentials", "ca_certificate"), "pem_certificates"),
    (
        {**TLS, "credentials": {"ca_certificate": AUTHORITY.certificate * 11}},
        ("credentials", "ca_certificate"),
        "pem_certificates",
    ),
    ({**TLS, "credentials": {**MUTUAL, "client_key": "x"}}, ("credentials", "client_key"), "pem_private_key"),
    ({**TLS, "credentials": {"client_certificate": PAIR.certificate}}, ("credentials", "client_key"), "missing"),
    ({**TLS, "credentials": {"client_key": PAIR.key}}, ("credentials", "client_certificate"), "missing"),
    (
        {**TLS, "credentials": {**MUTUAL, "client_key": OTHER.key}},
        ("credentials", "client_key"),
        "key_of_another_certificate",
    ),
]


@pytest.mark.parametrize(("changes", "location", "kind"), REFUSED)
def test_fields_that_the_protocol_does_not_take_or_that_do_not_fit_are_refused(
    sandbox: Sandbox, changes: Json, location: tuple[str, ...], kind: str
) -> None:
    response = sandbox.admin.post("/stream/clusters", _stream(sandbox, **changes))
    assert {"location": ["body", *location], "type": kind} in response.json()["error"]["details"]
    assert response.status_code == 422
    assert "PRIVATE KEY" not in response.text


@pytest.mark.parametrize(
    ("changes", "secrets"),
    [
        (TLS, {**MUTUAL, "ca_certificate": AUTHORITY.certificate * 2}),
        ({**OAUTH, "scope": "kafka"}, {"client_secret": "hunter2-secret", "ca_certificate": AUTHORITY.certificate}),
        (
            {"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN", "username": "u"},
            {**MUTUAL, "password": "hunter2"},
        ),
    ],
)
def test_brokers_with_certificates_or_tokens_are_registered_and_show_no_secret(
    sandbox: Sandbox, changes: Json, secrets: Json
) -> None:
    body = _stream(sandbox, bootstrap_servers="127.0.0.1:1", **changes, credentials=secrets)
    response = sandbox.admin.post("/stream/clusters", body)
    created = response.json()
    assert (response.status_code, created["status"]) == (201, "UNHEALTHY")
    assert created["credentials"] == {"configured": True, "mask": "********"}
    assert {name: created[name] for name in changes} == changes
    assert not any(line in response.text for secret in secrets.values() for line in secret.splitlines())


@pytest.mark.parametrize(
    "moved", [{"token_endpoint_url": "https://other.example.invalid/token"}, {"client_id": "another"}]
)
def test_a_client_secret_does_not_follow_to_another_token_endpoint(sandbox: Sandbox, moved: Json) -> None:
    body = _stream(sandbox, bootstrap_servers="127.0.0.1:1", **OAUTH)
    secrets = {"client_secret": "hunter2-secret"}
    path = f"/stream/clusters/{sandbox.admin.post_ok('/stream/clusters', {**body, 'credentials': secrets})['id']}"
    refused = sandbox.admin.put(path, {**body, **moved})
    assert refused.status_code == 422
    expected = {"location": ["body", "credentials", "client_secret"], "type": "required_for_new_target"}
    assert refused.json()["error"]["details"] == [expected]
    assert sandbox.admin.put(path, {**body, **moved, "credentials": secrets}).status_code == 200
    assert sandbox.admin.put(path, {**body, **moved, "scope": "another"}).status_code == 200


def test_connect_workers_of_another_kafka_are_refused(sandbox: Sandbox, another: KafkaDouble) -> None:
    stream = sandbox.admin.post_ok("/stream/clusters", _stream(sandbox, bootstrap_servers=another.address))
    response = sandbox.admin.post("/connect/clusters", _connect(sandbox, stream_cluster_id=stream["id"]))
    assert validation_error(response, "body", "stream_cluster_id") == "kafka_cluster_mismatch"


def test_an_unknown_stream_cluster_is_refused(sandbox: Sandbox) -> None:
    assert_error(
        sandbox.admin.post("/connect/clusters", _connect(sandbox, stream_cluster_id=UNKNOWN_ID)),
        422,
        "REFERENCE_NOT_FOUND",
    )


def test_all_missing_sasl_fields_are_named_at_once(sandbox: Sandbox) -> None:
    response = sandbox.admin.post("/stream/clusters", _stream(sandbox, security_protocol="SASL_SSL"))
    assert [validation_error(response, "body", name) for name in ("sasl_mechanism", "username")] == ["missing"] * 2


SERVERS = ("x", "", "a:1,,b:2", "h:0", "h:65536", "a:9092,h:99999", "[:90", "[x]:90", "a:9092, [::1:90", "::1:9092")
URLS = ("ftp://x", "http://u:p@x:8083", "x", "http://x/?a=b")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("bootstrap_servers", servers) for servers in SERVERS),
        ("security_protocol", "TLS"), ("sasl_mechanism", "GSSAPI"), ("metrics_provider", "jmx"), ("name", ""),
    ],
)  # fmt: skip
def test_a_bad_stream_cluster_is_refused(sandbox: Sandbox, field: str, value: str) -> None:
    validation_error(sandbox.admin.post("/stream/clusters", _stream(sandbox, **{field: value})), "body", field)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("base_url", url) for url in URLS),
        ("stream_cluster_id", "x"), ("secret_delivery", "env"),
        ("secret_delivery", "inline"),  # the installation has to allow it
    ],
)  # fmt: skip
def test_a_bad_connect_cluster_is_refused(sandbox: Sandbox, field: str, value: str) -> None:
    validation_error(sandbox.admin.post("/connect/clusters", _connect(sandbox, **{field: value})), "body", field)


@pytest.mark.parametrize("url", ["http://169.254.169.254", "http://0.0.0.0:8083"])
def test_a_forbidden_address_is_refused(sandbox: Sandbox, url: str) -> None:
    assert_error(sandbox.admin.post("/connect/clusters", _connect(sandbox, base_url=url)), 422, "URL_NOT_ALLOWED")


def test_credentials_of_clusters_are_masked_and_kept(sandbox: Sandbox) -> None:
    body = _connect(sandbox, username="u", credentials={"password": "planted-connect"})
    created = sandbox.admin.post_ok("/connect/clusters", body)
    assert created["credentials"] == {"configured": True, "mask": "********"}
    after = sandbox.admin.put(f"/connect/clusters/{created['id']}", {**body, "credentials": {}})
    assert after.json()["credentials"] == created["credentials"]
    assert "planted" not in after.text


def test_clusters_in_use_are_not_deleted(sandbox: Sandbox) -> None:
    stream = sandbox.admin.post_ok("/stream/clusters", _stream(sandbox))
    connect = sandbox.admin.post_ok("/connect/clusters", _connect(sandbox, stream_cluster_id=stream["id"]))
    pipeline = sandbox.new_pipeline(stream_cluster_id=stream["id"], connect_cluster_id=connect["id"])
    assert_error(sandbox.admin.delete(f"/stream/clusters/{stream['id']}"), 409, "RESOURCE_IN_USE")
    assert_error(sandbox.admin.delete(f"/connect/clusters/{connect['id']}"), 409, "RESOURCE_IN_USE")
    assert sandbox.admin.delete(f"/pipelines/{pipeline['id']}").status_code == 204
    assert sandbox.admin.delete(f"/connect/clusters/{connect['id']}").status_code == 204
    assert sandbox.admin.delete(f"/stream/clusters/{stream['id']}").status_code == 204


def test_plug_ins_have_class_type_and_version(sandbox: Sandbox) -> None:
    plugins = sandbox.admin.get_ok(f"/connect/clusters/{sandbox.connect['id']}/plugins")
    assert all(set(plugin) == {"class", "type", "version"} for plugin in plugins)
    assert {plugin["type"] for plugin in plugins} == {"source", "sink"}
