"""Definitions: what a GET shows can be sent back, and then it is what it was."""

from typing import Any

import pytest

from tests.integration.api.registered_kinds import KINDS, REPLACEABLE, create, create_path, new_body
from tests.support.api_assertions import validation_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.apps.sandbox_stack import ROLE_PASSWORD

RICH: dict[str, Json] = {
    "/sources": {"description": "two\nlines", "environment": "prod"},
    "/destinations": {"description": "of the lake"},
    "/connections": {"capabilities": ["SOURCE"]},
    "/stream/clusters": {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN", "username": "headgate"},
    "/connect/clusters": {"username": "headgate"},
    "/pipelines": {
        "snapshot_mode": "no_data",
        "properties": {"provide.transaction.metadata": "true"},
        "options": {"max_batch_size": 100, "slot_name": "of_this_test", "tombstones_on_delete": False},
    },
    "/deliveries": {"write_mode": "insert", "delete_enabled": False, "batch_size": 7, "auto_evolve": False},
    "/alert-rules": {"severities": ["critical"], "event_types": ["CDC_WAL_ERROR"], "cooldown_seconds": 60},
    "/notification-channels": {"enabled": False},
}
"""Fields beside those that a body needs."""

SECRET = ("credentials", "config")


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_deleted_is_made_again_from_its_definition_and_its_secrets(sandbox: Sandbox, kind: str) -> None:
    body = {**new_body(sandbox, kind), **RICH[kind], "labels": {"team": "shop"}}
    first = sandbox.admin.post_ok(create_path(sandbox, kind), body)
    definition = _definition(sandbox, kind, first["id"])
    assert definition == {**definition, **{name: body[name] for name in body.keys() - SECRET - {"options", "mappings"}}}
    assert definition.get("options", {}).items() >= body.get("options", {}).items()
    assert "credentials" not in definition

    assert sandbox.admin.delete(f"{kind}/{first['id']}").status_code == 204
    secrets = {name: body[name] for name in SECRET if name in body and name not in definition}
    second = sandbox.admin.post_ok(create_path(sandbox, kind), {**definition, **secrets})
    assert second["id"] != first["id"]
    assert _definition(sandbox, kind, second["id"]) == definition


@pytest.mark.parametrize("kind", REPLACEABLE)
def test_a_put_of_the_definition_changes_nothing(sandbox: Sandbox, kind: str) -> None:
    created = sandbox.admin.post_ok(kind, {**new_body(sandbox, kind), **RICH[kind], "labels": {"team": "shop"}})
    response = sandbox.admin.get(f"{kind}/{created['id']}", params={"view": "definition"})
    version = {"If-Match": response.headers["ETag"]}
    replaced = sandbox.admin.put(f"{kind}/{created['id']}", response.json(), headers=version)
    assert replaced.status_code == 200, replaced.text
    assert _without_times(replaced.json()) == _without_times(created)


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_shows_the_definitions_of_what_is_looked_for(sandbox: Sandbox, kind: str) -> None:
    created = create(sandbox, kind, {})
    listed = sandbox.admin.get(kind, params={"view": "definition", "q": created["name"]}).json()
    assert listed == [_definition(sandbox, kind, created["id"])]


@pytest.mark.parametrize("kind", ["/sources", "/destinations"])
def test_the_definition_of_what_uses_a_connection_names_it_and_has_no_address(sandbox: Sandbox, kind: str) -> None:
    created = sandbox.admin.post_ok(kind, sandbox.using_body(sandbox.connection))
    definition = _definition(sandbox, kind, created["id"])
    assert definition["connection_id"] == sandbox.connection["id"]
    assert not {"provider", "config", "credentials"} & set(definition)
    assert sandbox.admin.put(f"{kind}/{created['id']}", definition).status_code == 200


def test_no_definition_has_a_secret(sandbox: Sandbox) -> None:
    for kind in KINDS:
        created = create(sandbox, kind, {})
        shown = sandbox.admin.get(f"{kind}/{created['id']}", params={"view": "definition"}).text
        assert ROLE_PASSWORD not in shown
        assert "planted" not in shown


def test_an_unknown_view_is_refused(sandbox: Sandbox) -> None:
    for path in ("/sources", f"/pipelines/{sandbox.pipeline['id']}"):
        assert validation_error(sandbox.admin.get(path, params={"view": "everything"}), "query", "view") == "enum"


def _definition(sandbox: Sandbox, kind: str, resource_id: str) -> Any:
    return sandbox.admin.get_ok(f"{kind}/{resource_id}?view=definition")


def _without_times(resource: Json) -> Json:
    """What a PUT may leave as it was."""
    changing = {"version", "updated_at", "created_at", "last_checked_at", "last_error", "outdated_connectors"}
    return {name: value for name, value in resource.items() if name not in changing}
