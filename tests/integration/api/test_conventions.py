"""Section 1 of the wire contract: rules for every request."""

import pytest

from tests.support.api_assertions import assert_error, validation_error
from tests.support.apps.sandbox import Sandbox
from tests.support.apps.sandbox_stack import ADMIN
from tests.support.faults import places


def test_a_create_answers_201_with_the_resource_its_location_and_its_version(sandbox: Sandbox) -> None:
    response = sandbox.admin.post("/sources", sandbox.source_body())
    assert response.status_code == 201
    assert response.headers["Location"] == f"/api/v1/sources/{response.json()['id']}"
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    assert sandbox.admin.get(f"/sources/{response.json()['id']}").json() == response.json()


def test_a_delete_answers_204_without_a_body(sandbox: Sandbox) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body())
    response = sandbox.admin.delete(f"/sources/{source['id']}")
    assert (response.status_code, response.content) == (204, b"")
    assert_error(sandbox.admin.get(f"/sources/{source['id']}"), 404, "NOT_FOUND")
    assert_error(sandbox.admin.delete(f"/sources/{source['id']}"), 404, "NOT_FOUND")


# correlation ids


def test_jobs_and_audit_records_have_the_correlation_id(sandbox: Sandbox) -> None:
    headers = {"X-Correlation-ID": sandbox.name("correlation")}
    source = sandbox.admin.post("/sources", sandbox.source_body(), headers=headers).json()
    job = sandbox.admin.post(f"/sources/{source['id']}/health", headers=headers).json()
    assert job["correlation_id"] == headers["X-Correlation-ID"]
    assert {record["correlation_id"] for record in sandbox.audit_records(source["id"])} == {headers["X-Correlation-ID"]}


# lists


LISTS = (
    *("/sources", "/destinations", "/connections", "/pipelines", "/deliveries", "/stream/clusters"),
    *("/connect/clusters", "/audit", "/alert-rules", "/notification-channels"),
)


def _inner_lists(sandbox: Sandbox) -> tuple[str, ...]:
    return (
        f"/sources/{sandbox.source['id']}/tables",
        f"/connect/clusters/{sandbox.connect['id']}/plugins",
        f"/connect/connectors?cluster_id={sandbox.connect['id']}",
        f"/stream/consumer-groups?cluster_id={sandbox.stream['id']}",
        f"/pipelines/{sandbox.pipeline['id']}/destinations",
        f"/destinations/{sandbox.destination['id']}/mappings",
    )


def test_every_list_is_an_array_that_takes_a_limit(sandbox: Sandbox) -> None:
    for path in (*LISTS, *_inner_lists(sandbox)):
        for limit in (1, 500) if path == "/sources" else (1,):
            response = sandbox.admin.get(path, params={"limit": limit})
            assert response.status_code == 200, (path, response.text)
            assert isinstance(response.json(), list)
            assert len(response.json()) <= limit


def test_every_list_refuses_a_bad_limit_and_a_bad_cursor(sandbox: Sandbox) -> None:
    for path in (*LISTS, *_inner_lists(sandbox)):
        response = sandbox.admin.get(path, params={"limit": "501", "cursor": ""})
        details = assert_error(response, 422, "VALIDATION_FAILED")
        assert {detail["location"][1] for detail in details} == {"limit", "cursor"}
        validation_error(sandbox.admin.get(path, params={"cursor": "AAAA"}), "query", "cursor")


def test_a_cursor_belongs_to_its_list_and_its_filters(sandbox: Sandbox) -> None:
    path = f"/sources/{sandbox.source['id']}/tables"
    first = sandbox.admin.get(path, params={"limit": "1", "schema": "shop"})
    cursor = first.headers["X-Next-Cursor"]
    rest = sandbox.admin.get(path, params={"schema": "shop", "cursor": cursor}).json()
    assert [first.json()[0]["table_name"], *(table["table_name"] for table in rest)] == [
        "customers", "lines", "orders", "paths",
    ]  # fmt: skip
    validation_error(sandbox.admin.get(path, params={"cursor": cursor}), "query", "cursor")
    validation_error(sandbox.admin.get("/sources", params={"cursor": cursor}), "query", "cursor")
    changed = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    validation_error(sandbox.admin.get(path, params={"schema": "shop", "cursor": changed}), "query", "cursor")


def test_the_plug_ins_are_paged_too(sandbox: Sandbox) -> None:
    path = f"/connect/clusters/{sandbox.connect['id']}/plugins"
    first = sandbox.admin.get(path, params={"limit": "1"})
    rest = sandbox.admin.get(path, params={"cursor": first.headers["X-Next-Cursor"]})
    assert first.json() + rest.json() == sandbox.admin.get_ok(path)
    assert "X-Next-Cursor" not in rest.headers


# If-Match


def test_a_stale_version_is_412_and_nothing_happens(sandbox: Sandbox) -> None:
    body = sandbox.source_body()
    source = sandbox.admin.post_ok("/sources", body)
    path = f"/sources/{source['id']}"
    fresh = sandbox.admin.put(path, {**body, "environment": "test"}, headers={"If-Match": '"1"'})
    assert (fresh.status_code, fresh.json()["version"], fresh.headers["ETag"]) == (200, 2, '"2"')
    assert_error(sandbox.admin.put(path, body, headers={"If-Match": '"1"'}), 412, "VERSION_MISMATCH")
    assert_error(sandbox.admin.delete(path, headers={"If-Match": '"1"'}), 412, "VERSION_MISMATCH")
    assert sandbox.admin.get_ok(path) == fresh.json()
    assert sandbox.admin.delete(path, headers={"If-Match": '"2"'}).status_code == 204


def test_if_match_works_on_everything_that_has_a_version(sandbox: Sandbox) -> None:
    stale = {"If-Match": '"77"'}
    delivery = sandbox.new_delivery()
    paths = (
        f"/connections/{sandbox.connection['id']}",
        f"/destinations/{delivery['destination_id']}",
        f"/stream/clusters/{sandbox.stream['id']}",
        f"/connect/clusters/{sandbox.connect['id']}",
        f"/pipelines/{sandbox.pipeline['id']}",
        f"/deliveries/{delivery['id']}",
        f"/destinations/{delivery['destination_id']}/deliveries/{delivery['id']}",
    )
    for path in paths:
        assert_error(sandbox.admin.delete(path, headers=stale), 412, "VERSION_MISMATCH")
    mappings = {"mappings": delivery["mappings"]}
    assert_error(
        sandbox.admin.put(f"/deliveries/{delivery['id']}/mappings", mappings, headers=stale), 412, "VERSION_MISMATCH"
    )


# Idempotency-Key


def test_a_repeated_request_gets_the_first_response_and_creates_nothing(sandbox: Sandbox) -> None:
    key = {"Idempotency-Key": sandbox.name("key")}
    stream = {"name": sandbox.name("stream"), "bootstrap_servers": sandbox.doubles.kafka}
    for path, body, noun in (
        ("/sources", sandbox.source_body(), "source"),
        ("/destinations", sandbox.destination_body(), "destination"),
        ("/connections", sandbox.connection_body(), "connection"),
        ("/pipelines", sandbox.pipeline_body(), "pipeline"),
        ("/stream/clusters", stream, "stream_cluster"),
    ):
        first, again = (sandbox.admin.post(path, body, headers=key) for _ in range(2))
        assert (first.status_code, again.status_code) == (201, 201), first.text
        assert first.content == again.content
        assert first.headers["Location"] == again.headers["Location"]
        assert [record["action"] for record in sandbox.audit_records(first.json()["id"])] == [f"{noun}.create"]


# bodies


@pytest.mark.parametrize("port", [65536, 10**19, 10**200, -(10**30)])
def test_a_number_out_of_range_is_reported_whatever_its_length(sandbox: Sandbox, port: int) -> None:
    response = sandbox.admin.post("/sources", sandbox.source_body(config=sandbox.config(port=port)))
    validation_error(response, "body", "config", "port")


@pytest.mark.parametrize(
    "name",
    [
        "می\u200cخواهم",
        "家族👨\u200d👩\u200d👧",
        "顧客\u3000マスタ",
        "a\u00a0b",
        "Größe №5",
        "a  b",
        "क्\u200dष",
        "\ufdfa" * 180,
    ],
)
def test_a_name_may_be_written_in_any_script(sandbox: Sandbox, name: str) -> None:
    created = sandbox.admin.post_ok("/sources", sandbox.source_body(name=f"{name} {sandbox.name('n')}"))
    assert created["name"].startswith(name)


@pytest.mark.parametrize(
    "name",
    [
        *("a\nb", "a\tb", "a\x7fb", "a\u202eb", "a\u2066b", "a\u2028b", "\ufdd0", "   ", "a\u200bb", "\ufeffa"),
        *("\u200dمم", "مم\u200c", "a\u2060b", "a\u200db", "a\u00adb", "a\u200fb", "a\u061cb", "a\u3164", "a\ufe0fb"),
        *("a\U000e0041b", "生产\u200d库", "が\u200dあ", "abc\n", "\tabc", "abc\x85", "abc\u2028"),
    ],
)
def test_a_name_that_cannot_be_read_is_refused(sandbox: Sandbox, name: str) -> None:
    validation_error(sandbox.admin.post("/sources", sandbox.source_body(name=name)), "body", "name")


@pytest.mark.parametrize("name", ["a" * 201, "a" * 200_000, "a" + " " * 5_000 + "\u200b", " " * 5_000 + "a"])
def test_a_name_that_is_too_long_is_refused_for_its_length(sandbox: Sandbox, name: str) -> None:
    refused = sandbox.admin.post("/sources", sandbox.source_body(name=name))
    assert places(refused.json()["error"]["details"]) == [{"location": ["body", "name"], "type": "string_too_long"}]


def test_a_description_may_have_lines(sandbox: Sandbox) -> None:
    lines = "Orders.\nOwned by the shop."
    assert sandbox.admin.post_ok("/sources", sandbox.source_body(description=lines))["description"] == lines
    validation_error(sandbox.admin.post("/sources", sandbox.source_body(description="a\x00b")), "body", "description")


def test_an_optional_field_may_be_null(sandbox: Sandbox) -> None:
    body = sandbox.source_body(options=None, description=None)
    created = sandbox.admin.post_ok("/sources", body)
    unchanged = sandbox.admin.put(f"/sources/{created['id']}", {**body, "credentials": None}).json()
    assert unchanged["credentials"] == created["credentials"]


@pytest.mark.parametrize("value", [True, False, 5432.5, "5_432", "0x10", " 5432", "", [], {}])
def test_a_number_is_a_number(sandbox: Sandbox, value: object) -> None:
    validation_error(
        sandbox.admin.post("/sources", sandbox.source_body(config=sandbox.config(port=value))), "body", "config", "port"
    )


@pytest.mark.parametrize("value", ["yes", "true", 1, 0, None, "on"])
def test_a_boolean_is_a_boolean(sandbox: Sandbox, value: object) -> None:
    body = sandbox.delivery_body(sandbox.pipeline, auto_create=value)
    response = sandbox.admin.post(f"/destinations/{sandbox.destination['id']}/preview", body)
    validation_error(response, "body", "auto_create")


def test_a_key_that_a_stranger_has_used_keeps_nobody_from_signing_in(sandbox: Sandbox) -> None:
    key = {"Idempotency-Key": sandbox.name("key")}
    stranger = sandbox.unauthenticated().post(
        "/auth/login", {"email": "nobody@example.com", "password": "x"}, headers=key
    )
    assert_error(stranger, 401, "INVALID_CREDENTIALS")
    for value in (key, {"Idempotency-Key": "not a key"}):
        body = {"email": ADMIN.email, "password": ADMIN.password}
        assert sandbox.unauthenticated().post("/auth/login", body, headers=value).status_code == 200
