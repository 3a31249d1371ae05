"""Credentials can be written but never read; `/internal/secrets` is for Connect's secret provider only."""

import re
from typing import Any

import pytest

from tests.support.api_assertions import UNKNOWN_ID, assert_error, validation_error
from tests.support.apps.sandbox import ROLE_PASSWORD, WRITER_PASSWORD, Json, Sandbox
from tests.support.databases.self_signed import make_certificate
from tests.support.faults import places

MASKED = {"configured": True, "mask": "********"}


def _reference(sandbox: Sandbox, body: Json) -> str:
    config = sandbox.admin.post_ok("/pipelines/preview", body, status=200)["config"]
    return re.fullmatch(r"\$\{headgate:([0-9a-f-]{36}):password\}", config["database.password"])[1]  # type: ignore[index]


def _read(sandbox: Sandbox, name: str, credential: str | None = None) -> Any:
    value = f"Bearer {credential or sandbox.service_credential}"
    return sandbox.unauthenticated().get(f"//internal/secrets/{name}", headers={"Authorization": value})


def test_the_service_credential_reads_the_values_behind_a_reference(sandbox: Sandbox) -> None:
    response = _read(sandbox, _reference(sandbox, sandbox.pipeline_body()))
    assert (response.status_code, response.json()) == (200, {"data": {"password": ROLE_PASSWORD}})
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("value", [None, "", "Bearer", "Bearer wrong", "Basic x", "Bearer hg_nonsense"])
def test_every_other_caller_gets_403(sandbox: Sandbox, value: str | None) -> None:
    for api in (sandbox.unauthenticated(), sandbox.admin):
        for name in (UNKNOWN_ID, "x"):
            response = api.get(f"//internal/secrets/{name}", headers={"Authorization": value})
            assert_error(response, 403, "FORBIDDEN")


@pytest.mark.parametrize("name", [UNKNOWN_ID, "x", UNKNOWN_ID + "0"])
def test_an_unknown_reference_is_404(sandbox: Sandbox, name: str) -> None:
    assert_error(_read(sandbox, name), 404, "NOT_FOUND")


def test_credentials_are_shown_as_configured_and_mask_only(sandbox: Sandbox) -> None:
    for path, body in sandbox.database_bodies():
        created = sandbox.admin.post_ok(path, body)
        assert created["credentials"] == MASKED
        assert sandbox.admin.get_ok(f"{path}/{created['id']}")["credentials"] == MASKED
    bare = sandbox.admin.post_ok("/sources", sandbox.source_body(credentials={}))
    assert bare["credentials"]["configured"] is False


@pytest.mark.parametrize("blank", [None, {}, {"password": None}, {"password": ""}, {"password": "  "}])
def test_a_blank_secret_keeps_the_stored_one(sandbox: Sandbox, blank: Json | None) -> None:
    for kind, body in sandbox.database_bodies():
        path = f"{kind}/{sandbox.admin.post_ok(kind, body)['id']}"
        changed = sandbox.admin.put(path, {**body, "credentials": blank})
        assert (changed.status_code, changed.json()["credentials"]) == (200, MASKED)
        assert sandbox.admin.post(f"{path}/test").json()["success"] is True


def test_a_value_rotates_the_secret_and_keeps_the_reference(sandbox: Sandbox) -> None:
    source = sandbox.new_source()
    name = _reference(sandbox, sandbox.pipeline_body(source_id=source["id"]))
    body = sandbox.source_body(name=source["name"], credentials={"password": "planted-rotated"})
    assert sandbox.admin.put(f"/sources/{source['id']}", body).status_code == 200
    assert _read(sandbox, name).json()["data"] == {"password": "planted-rotated"}
    assert sandbox.admin.post(f"/sources/{source['id']}/test").json()["success"] is False


def test_no_response_shows_a_secret_and_connect_gets_references_only(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    paths = (
        "/sources", "/destinations", "/pipelines", f"/pipelines/{sandbox.pipeline['id']}", "/deliveries",
        f"/destinations/{delivery['destination_id']}/status", "/audit?limit=500", "/stream/clusters",
        "/connect/clusters", "/connections",
    )  # fmt: skip
    shown = "".join(sandbox.admin.get(path).text for path in paths)
    configs = "".join(
        str(sandbox.doubles.connect_double.config_of(name)) for name in sandbox.doubles.connect_double.names()
    )
    for secret in (ROLE_PASSWORD, WRITER_PASSWORD, sandbox.service_credential):
        assert secret not in shown
        assert secret not in configs
    assert "${headgate:" in configs


def test_a_stored_password_is_never_sent_to_another_place(sandbox: Sandbox) -> None:
    for kind, body in sandbox.database_bodies():
        path = f"{kind}/{sandbox.admin.post_ok(kind, body)['id']}"
        before = sandbox.admin.get_ok(path)["version"]
        moved = {**body, "config": {**body["config"], "host": "localhost"}}
        for credentials in ({}, {"password": " "}, None):
            refused = sandbox.admin.put(path, {**moved, "credentials": credentials})
            assert_error(refused, 422, "VALIDATION_FAILED")
            assert places(refused.json()["error"]["details"]) == [
                {"location": ["body", "credentials", "password"], "type": "required_for_new_target"}
            ]
        assert sandbox.admin.get_ok(path)["version"] == before
        assert sandbox.admin.put(path, {**moved, "credentials": {"password": "given again"}}).status_code == 200


def test_a_stored_password_is_never_sent_to_a_server_that_another_certificate_vouches_for(sandbox: Sandbox) -> None:
    for kind, body in sandbox.database_bodies():
        made = sandbox.admin.post_ok(kind, body)
        certificate = {"ca_certificate": make_certificate().certificate}
        for credentials in (certificate, {**certificate, "password": " "}):
            refused = sandbox.admin.put(f"{kind}/{made['id']}", {**body, "credentials": credentials})
            assert validation_error(refused, "body", "credentials", "password") == "required_for_new_target"
        assert sandbox.admin.get_ok(f"{kind}/{made['id']}")["version"] == made["version"]
        with_password = {**certificate, "password": "given again"}
        assert sandbox.admin.put(f"{kind}/{made['id']}", {**body, "credentials": with_password}).status_code == 200
