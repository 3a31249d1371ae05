"""The export of all definitions, and what makes an installation out of it again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.move_definitions import PATHS, main
from tests.support.api_assertions import assert_error
from tests.support.apps.sandbox import Json, Sandbox, running_sandbox
from tests.support.apps.sandbox_stack import ROLE_PASSWORD, WRITER_PASSWORD

HOOK = "/services/T0/B0/planted-webhook-token"


@pytest.fixture(scope="module")
def installation() -> Iterator[Sandbox]:
    """An installation of its own, with one of each kind: a test empties it, and fills it again."""
    with running_sandbox() as running:
        _fill(running)
        yield running


@pytest.fixture
def token(installation: Sandbox, monkeypatch: pytest.MonkeyPatch) -> str:
    token = installation.admin.post_ok("/auth/tokens", {"name": installation.name("move"), "role": "Admin"})["token"]
    monkeypatch.setenv("HEADGATE_TOKEN", token)
    return str(token)


def test_an_emptied_installation_is_made_again_from_its_export_and_its_secrets(
    installation: Sandbox, token: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export = tmp_path / "export.json"
    before = _exported(installation, capsys)
    export.write_text(json.dumps(before))
    _empty(installation, before)

    assert main(["send", installation.url, str(export)]) == 1
    missing = capsys.readouterr().err.splitlines()[1:]
    assert sorted(missing) == [
        "connections/shared: credentials.password",
        "destinations/mart: credentials.password",
        "notification_channels/on call: config.webhook_url",
    ]

    secrets = tmp_path / "secrets.json"
    secrets.write_text(
        json.dumps(
            {
                "connections/shared": {"credentials.password": ROLE_PASSWORD},
                "destinations/mart": {"credentials.password": WRITER_PASSWORD},
                "notification_channels/on call": {"config.webhook_url": installation.chat.url + HOOK},
            }
        )
    )
    assert main(["send", installation.url, str(export), str(secrets), "--deploy"]) == 0, capsys.readouterr().err
    capsys.readouterr()
    after = _exported(installation, capsys)
    assert _by_names(after) == _by_names(before)
    assert {entry["id"] for entry in after["pipelines"]}.isdisjoint({entry["id"] for entry in before["pipelines"]})
    [delivery] = installation.listed("/deliveries")
    assert delivery["desired_state"] == "RUNNING"


def test_an_export_goes_on_page_after_page(installation: Sandbox, token: str) -> None:
    whole = installation.admin.get_ok("/export")
    pages = [response := installation.admin.get("/export", params={"limit": "2"})]
    while cursor := response.headers.get("X-Next-Cursor"):
        pages.append(response := installation.admin.get("/export", params={"limit": "2", "cursor": cursor}))
    for kind in PATHS:
        entries = [entry for page in pages for entry in page.json()[kind]]
        assert entries == whole[kind]
    assert all(sum(len(page.json()[kind]) for kind in PATHS) <= 2 for page in pages)


def test_an_export_is_audited_once_and_only_an_admin_may_make_it(installation: Sandbox) -> None:
    query = {"action": "installation.export"}
    before = len(installation.admin.get("/audit", params=query).json())
    response = installation.admin.get("/export", params={"limit": "1"})
    second = installation.admin.get("/export", params={"limit": "1", "cursor": response.headers["X-Next-Cursor"]})
    assert second.status_code == 200
    assert len(installation.admin.get("/audit", params=query).json()) == before + 1
    assert_error(installation.with_role("Ops").get("/export"), 403, "FORBIDDEN")


def _fill(sandbox: Sandbox) -> None:
    """One of each kind, where they refer to each other."""
    admin, labels = sandbox.admin, {"labels": {"team": "shop"}}
    connection = admin.post_ok("/connections", sandbox.connection_body(name="shared", **labels))
    source = admin.post_ok("/sources", sandbox.using_body(connection, name="orders", **labels))
    assert sandbox.finished_job(admin.post_ok(f"/sources/{source['id']}/discover", status=202))["error"] is None
    destination = admin.post_ok("/destinations", sandbox.destination_body(name="mart", **labels))
    ends = {"source_id": source["id"], "stream_cluster_id": sandbox.stream["id"]}
    body = {"name": "orders to Kafka", "topic_prefix": "shop", "connect_cluster_id": sandbox.connect["id"], **ends}
    tables = [{"schema_name": "shop", "table_name": "orders"}]
    draft = admin.post_ok("/pipelines", {**body, "tables": tables, **labels})
    pipeline = admin.post_ok(f"/pipelines/{draft['id']}/deploy", status=200)
    sandbox.doubles.kafka_double.state.create_topic(pipeline["topics"][0])
    admin.post_ok(f"/destinations/{destination['id']}/deploy", sandbox.delivery_body(pipeline, name="to the mart"))
    channel = {"name": "on call", "provider": "chat-webhook", "config": {"webhook_url": sandbox.chat.url + HOOK}}
    channel_id = admin.post_ok("/notification-channels", channel)["id"]
    rule = {"name": "the shop", "channel_ids": [channel_id], "source_ids": [source["id"]], **labels}
    admin.post_ok("/alert-rules", rule)


def _empty(sandbox: Sandbox, export: Json) -> None:
    kinds = list(PATHS)
    for kind in reversed(kinds):
        path = "/deliveries" if kind == "deliveries" else PATHS[kind]
        for entry in export[kind]:
            deleted = sandbox.admin.delete(f"{path}/{entry['id']}")
            assert deleted.status_code == 204, deleted.text


def _exported(sandbox: Sandbox, capsys: pytest.CaptureFixture[str]) -> Json:
    assert main(["export", sandbox.url]) == 0
    text = capsys.readouterr().out
    assert not {"planted", ROLE_PASSWORD, WRITER_PASSWORD} & set(text.split('"'))
    return dict(json.loads(text))


def _by_names(export: Json) -> dict[str, list[Any]]:
    """The export with names where it has ids."""
    text = json.dumps({kind: export[kind] for kind in PATHS})
    for kind in PATHS:
        for entry in export[kind]:
            text = text.replace(entry["id"], entry["name"])
    return {kind: sorted(entries, key=lambda one: one["name"]) for kind, entries in json.loads(text).items()}
