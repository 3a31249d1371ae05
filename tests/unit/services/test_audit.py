"""What audit records show of entities, and of denials."""

import json

from chalicelib.domain.audit import Outcome
from chalicelib.services.audit import view
from tests.support.in_process_app import ADMIN, InProcessApp


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


def test_a_denial_says_what_was_requested_and_lacked(app: InProcessApp) -> None:
    request = {"method": "DELETE", "path": "/api/v1/sources/{uuid}", "permission": "administer"}
    source_id = app.source().id
    app.clock.advance(1)
    app.services.audit.record_denial(
        app.context(), "source.delete", ids=[source_id], request=request, reason="forbidden"
    )
    page = app.services.audit.list(limit=1, after=None, resource_id=None, include_related=False, meaningful=None)
    (record,) = page.items
    assert (record.action, record.resource_type, record.resource_id) == ("source.delete", "source", source_id)
    assert (record.outcome, record.actor_id, record.meaningful) == (Outcome.DENIED, ADMIN.id, True)
    assert record.after == {**request, "reason": "forbidden", "source_address": None}
