"""What audit records show of entities, and of denials."""

import json
from dataclasses import replace

from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.audit.view import view
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.observation import ConnectorStatus, DesiredState, ReportedState, TaskStatus, observe
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.running_capture import PAUSED_NOTICE
from tests.support.apps.in_process_app import ADMIN, InProcessApp
from tests.support.entities import NOW, make_pipeline


def test_an_entity_is_shown_as_plain_json_without_a_secret(app: InProcessApp) -> None:
    source = app.source()
    shown = view(source)
    assert json.loads(json.dumps(shown)) == shown
    assert shown["credentials"] == {"configured": True}
    assert (shown["provider"], shown["config"]["host"]) == ("postgresql", source.address.host)
    assert shown["created_at"] == "2026-01-31T12:00:00.000Z"
    assert not {"revision", "address", "password"} & shown.keys()


def test_a_pipeline_is_shown_without_what_only_the_stores_need(app: InProcessApp) -> None:
    assert not {"revision", "claims", "config_hash"} & view(app.pipeline()).keys()


def test_a_delivery_is_shown_with_its_mappings_beside_its_options(app: InProcessApp) -> None:
    data = app.delivery_input(app.deployed_pipeline())
    shown = view(app.services.deliveries.deploy(app.context(), app.destination().id, data))
    assert [mapping["table_name"] for mapping in shown["mappings"]] == ["orders"]
    assert shown["options"] == {
        "write_mode": "upsert", "delete_enabled": True, "auto_create": True, "auto_evolve": True,
        "batch_size": 500, "tasks_max": 1,
    }  # fmt: skip
    assert not {"writing", "tasks_max"} & shown.keys()


def test_the_options_of_a_pipeline_are_shown_as_its_body_has_them(app: InProcessApp) -> None:
    capture = view(app.pipeline())["capture"]
    assert capture["options"].keys() >= {"heartbeat_interval_ms", "publication_mode", "slot_name"}
    assert "provider_options" not in capture


def test_a_failed_task_is_shown_with_its_hint() -> None:
    failed = TaskStatus(id=0, state=ReportedState.FAILED, worker_id="w", diagnosis=Diagnosis.SLOT_GONE)
    shown = view(observed(ReportedState.RUNNING, failed))["observation"]["connector"]
    hint = hint_of(Diagnosis.SLOT_GONE, ConnectorKind.SOURCE)
    expected = {"event_type": "CDC_REPLICATION_SLOT_ERROR", "message": hint.message, "cause": None}
    assert shown["tasks"] == [{"id": 0, "state": "FAILED", "worker_id": "w", "hint": expected}]
    assert (shown["state"], shown["hint"]) == ("RUNNING", None)
    assert "diagnosis" not in shown


def test_a_paused_pipeline_is_shown_with_what_goes_on_in_its_source() -> None:
    paused = TaskStatus(id=0, state=ReportedState.PAUSED, worker_id="w")
    shown = view(replace(observed(ReportedState.PAUSED, paused), desired_state=DesiredState.PAUSED))["observation"]
    assert (shown["reasons"], shown["notices"]) == ([], ["The connector is paused.", PAUSED_NOTICE])


def test_a_pipeline_whose_connector_is_missing_is_shown_without_one() -> None:
    shown = view(make_pipeline(observation=observe(None, now=NOW)))["observation"]
    assert (shown["state"], shown["connector"]) == ("NOT_DEPLOYED", None)


def observed(state: ReportedState, task: TaskStatus) -> Pipeline:
    name = make_pipeline().connector_name
    connector = ConnectorStatus(name=name, state=state, worker_id="w", tasks=(task,))
    return make_pipeline(observation=observe(connector, now=NOW))


def test_a_denial_says_what_was_requested_and_lacked(app: InProcessApp) -> None:
    request = {"method": "DELETE", "path": "/api/v1/sources/{uuid}", "permission": "administer"}
    source_id = app.source().id
    app.clock.advance(1)
    app.services.audit.record_denial(
        app.context(), "source.delete", ids=[source_id], request=request, reason="forbidden"
    )
    page = app.services.audit.list(limit=1)
    (record,) = page.items
    assert (record.action, record.resource_type, record.resource_id) == ("source.delete", "source", source_id)
    assert (record.outcome, record.actor_id, record.meaningful) == (Outcome.DENIED, ADMIN.id, True)
    assert record.after == {**request, "reason": "forbidden", "source_address": None}


def test_a_record_has_the_name_that_the_resource_had_then(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.services.destinations.test(app.context(), app.destination().id)
    names = {record.action: record.resource_name for record in app.services.audit.list(limit=100).items}
    assert names["pipeline.create"] == names["pipeline.deploy"] == pipeline.name
    assert all(names[action] for action in ("source.create", "destination.create", "destination.test"))
