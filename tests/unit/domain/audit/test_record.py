"""What an audit record says about a change: the fields that differ, in a bounded size."""

import json
from typing import Any

import pytest

from chalicelib.domain.audit.record import MAX_BYTES, AuditRecord, Outcome, changes
from tests.support.entities import NOW

MANY = [{"schema_name": "s" * 60, "table_name": f"{number:060}"} for number in range(500)]


def size(value: Any) -> int:
    return len(json.dumps(value))


def test_a_change_shows_only_the_fields_that_differ() -> None:
    before = {"name": "shop", "version": 1, "config": {"host": "a", "port": 5432}, "tags": ["x"]}
    after = {"name": "shop", "version": 2, "config": {"host": "b", "port": 5432}, "tags": ["x"]}
    assert changes(before, after) == (
        {"version": 1, "config": {"host": "a"}},
        {"version": 2, "config": {"host": "b"}},
    )


def test_a_short_list_that_changed_is_shown_whole() -> None:
    assert changes({"tags": ["a", "b"]}, {"tags": ["a"]}) == ({"tags": ["a", "b"]}, {"tags": ["a"]})


def test_of_a_long_list_the_changed_entries_are_shown() -> None:
    changed = {"schema_name": "other", "table_name": "clients"}
    before, after = changes({"tables": MANY}, {"tables": [*MANY[1:], changed]})
    assert (before, after) == ({"tables": MANY[:1]}, {"tables": [changed]})


def test_a_created_resource_is_shown_with_the_length_and_the_first_entries_of_its_long_lists() -> None:
    before, after = changes(None, {"name": "shop", "capture": {"tables": MANY, "topic_prefix": "p"}, "version": 1})
    assert before is None
    assert after is not None
    assert (after["name"], after["version"], after["capture"]["topic_prefix"]) == ("shop", 1, "p")
    assert after["capture"]["tables"]["count"] == 500
    assert after["capture"]["tables"]["first"] == MANY[: len(after["capture"]["tables"]["first"])]
    assert after["capture"]["tables"]["first"]


def test_a_view_of_any_size_is_bounded() -> None:
    fields = {f"field {number}": "text " * 200 for number in range(200)}
    for view in ({"tables": MANY}, fields, {"deep": {"deeper": fields, "lists": [MANY, MANY]}}):
        for shown in (*changes(None, view), *changes(view, {})):
            assert size(shown) <= MAX_BYTES * 1.1


def test_fields_without_room_are_counted() -> None:
    fields = {f"field {number:03}": "text " * 20 for number in range(200)}
    _, after = changes(None, {"name": "shop", **fields})
    assert after is not None
    assert (after["name"], after["omitted"]) == ("shop", 201 - (len(after) - 1))


def record(resource_type: str) -> AuditRecord:
    return AuditRecord(
        id="record", at=NOW, actor_id="u", actor_email="ada@example.com", actor_via="session",
        action=f"{resource_type}.update", resource_type=resource_type, resource_id="r", resource_name="orders",
        outcome=Outcome.SUCCESS, before={"name": "shop"}, after={"source_address": "192.0.2.7"}, correlation_id="c",
    )  # fmt: skip


def test_everybody_may_see_what_was_done_to_a_resource_but_not_by_whom_nor_what_changed() -> None:
    shown = str(record("pipeline").activity)
    assert "pipeline.update" in shown
    assert "orders" in shown
    assert not [hidden for hidden in ("ada@", "192.0.2.7", "shop", "session") if hidden in shown]


@pytest.mark.parametrize("resource_type", ["user", "session", "api_token", "invite", "secret", "audit", "a later type"])
def test_only_admins_see_records_about_people_tokens_and_secrets(resource_type: str) -> None:
    assert record(resource_type).activity is None
