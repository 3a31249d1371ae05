"""Alert rules: how they are stored, and the one that is there from the beginning."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace

import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.rule import MAX_RULES, AlertRule, CooldownPolicy
from chalicelib.domain.audit.record import AuditRecord
from chalicelib.domain.event_kind import EventKind
from chalicelib.errors import Conflict, Invalid, NotFound, VersionMismatch, WriteConflict
from chalicelib.kit.ids import id_from, new_id
from chalicelib.services.alerts.rules import DEFAULT_RULE_ID, AlertRuleService, AlertRuleValues
from chalicelib.stores.transaction import Transaction
from tests.bench.seeds import copies, put_rows
from tests.support.alerting.rows import stored_channel
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp

INPUT = AlertRuleValues(name="critical")


def rules(app: InProcessApp) -> AlertRuleService:
    return app.services.alerting.rules


def references(app: InProcessApp, *channel_ids: str) -> list[int]:
    return [app.services.stores.alerts.channels.references(one) for one in channel_ids]


def listed(app: InProcessApp) -> list[AlertRule]:
    return list(rules(app).list(limit=500, after=None).items)


def records(app: InProcessApp, rule_id: str) -> list[AuditRecord]:
    page = app.services.audit.list(limit=100, after=None, resource_id=rule_id, include_related=False, meaningful=True)
    return list(page.items)


def removed(app: InProcessApp, channel_id: str) -> None:
    """What deleting a channel does to its row."""
    store = app.services.stores.alerts.channels
    transaction = Transaction()
    store.remove(transaction, store.get(channel_id))
    transaction.commit()


@contextmanager
def before_the_first_write(app: InProcessApp, act: Callable[[], object]) -> Iterator[None]:
    """`act` happens when the transaction of the block is about to be sent."""

    def act_first(point: Point, call: InterceptedCall) -> object:
        if point.writes and not done:
            done.append(point)
            with app.interceptor.unrecorded():
                act()
        return call()

    done: list[Point] = []
    app.interceptor.watch(act_first)
    try:
        yield
    finally:
        app.interceptor.unwatch()
    assert done


# the default rule


def test_the_installation_makes_one_enabled_rule_without_channels(app: InProcessApp) -> None:
    app.services.install()
    (rule,) = listed(app)
    assert (rule.name, rule.is_default, rule.enabled, rule.channel_ids) == ("Critical CDC Errors", True, True, ())
    assert (rule.severities, rule.send_recovery) == ((AlertSeverity.CRITICAL,), True)
    assert {kind.value for kind in rule.event_types} == {
        "CONNECTOR_FAILED", "CONNECT_TASK_FAILED", "STREAM_CONNECT_UNAVAILABLE", "SOURCE_CONNECTION_FAILED",
        "DESTINATION_CONNECTION_FAILED", "PIPELINE_FAILED",
    }  # fmt: skip
    assert (rule.cooldown_policy, rule.cooldown_seconds) == (CooldownPolicy.AFTER_COOLDOWN, 900)
    (record,) = records(app, DEFAULT_RULE_ID)
    assert (record.action, record.actor_via) == ("alert_rule.create", "system")


def test_it_is_made_once_whatever_becomes_of_it(app: InProcessApp) -> None:
    app.services.install()
    app.restart()
    app.services.install()
    assert len(listed(app)) == 1
    rules(app).update(app.context(), DEFAULT_RULE_ID, replace(INPUT, name="renamed"))
    app.services.install()
    assert [rule.name for rule in listed(app)] == ["renamed"]
    rules(app).delete(app.context(), DEFAULT_RULE_ID)
    app.restart()
    app.services.install()
    assert listed(app) == []


def test_a_rule_of_the_same_name_is_left_alone(app: InProcessApp) -> None:
    own = rules(app).create(app.context(), replace(INPUT, name="Critical CDC Errors"))
    app.services.install()
    assert listed(app) == [own]


def test_two_processes_that_install_at_the_same_time_make_one_rule(app: InProcessApp) -> None:
    with before_the_first_write(app, rules(app).install):
        app.services.install()
    assert len(listed(app)) == 1


def test_without_the_tables_of_alerting_the_installation_goes_on(app: InProcessApp) -> None:
    def refuse(point: Point, call: InterceptedCall) -> object:
        if point.writes and "alert-rules" in json.dumps(getattr(point.request, "body", {})):
            raise EndpointConnectionError(endpoint_url="http://127.0.0.1")
        return call()

    app.interceptor.watch(refuse)
    try:
        app.services.install()
    finally:
        assert app.interceptor.unwatch()
    assert listed(app) == []
    app.services.install()
    assert len(listed(app)) == 1


def test_it_stays_the_default_rule_when_it_is_changed(app: InProcessApp) -> None:
    app.services.install()
    assert rules(app).update(app.context(), DEFAULT_RULE_ID, INPUT).is_default is True
    assert rules(app).create(app.context(), replace(INPUT, name="other")).is_default is False


# what people do


def test_a_rule_is_stored_as_it_was_given(app: InProcessApp) -> None:
    source, pipeline = app.source(), app.pipeline()
    given = AlertRuleValues(
        name="all of it", description="text", enabled=False, severities=(AlertSeverity.WARNING,),
        event_types=(EventKind.CONNECTOR_FAILED,), source_ids=(source.id,), pipeline_ids=(pipeline.id,),
        channel_ids=(stored_channel(app),), cooldown_policy=CooldownPolicy.EVERY_OCCURRENCE, cooldown_seconds=0,
        send_recovery=False,
    )  # fmt: skip
    rule = rules(app).create(app.context(), given)
    assert {one.name: getattr(rule, one.name) for one in fields(given)} == {
        one.name: getattr(given, one.name) for one in fields(given)
    }
    assert rules(app).get(rule.id) == rule


def test_each_change_leaves_an_audit_record_of_what_differs(app: InProcessApp) -> None:
    rule = rules(app).create(app.context(), INPUT)
    app.clock.advance(1)
    rules(app).update(app.context(), rule.id, replace(INPUT, cooldown_seconds=60, send_recovery=False))
    app.clock.advance(1)
    rules(app).delete(app.context(), rule.id)
    delete, update, create = records(app, rule.id)
    assert [one.action for one in (create, update, delete)] == [
        "alert_rule.create", "alert_rule.update", "alert_rule.delete",
    ]  # fmt: skip
    assert (create.after or {})["cooldown_policy"] == "notify_after_cooldown"
    assert (update.before or {})["cooldown_seconds"] == 900
    assert {name: (update.after or {})[name] for name in ("cooldown_seconds", "send_recovery", "version")} == {
        "cooldown_seconds": 60, "send_recovery": False, "version": 2,
    }  # fmt: skip
    assert (delete.before or {})["name"] == "critical"


def test_names_are_unique_whatever_their_case(app: InProcessApp) -> None:
    rules(app).create(app.context(), INPUT)
    other = rules(app).create(app.context(), replace(INPUT, name="other"))
    for act in (
        lambda: rules(app).create(app.context(), replace(INPUT, name=" CRITICAL")),
        lambda: rules(app).update(app.context(), other.id, replace(INPUT, name="Critical")),
    ):
        with pytest.raises(Conflict) as refused:
            act()
        assert refused.value.code == "NAME_CONFLICT"
    rules(app).delete(app.context(), other.id)
    assert rules(app).create(app.context(), replace(INPUT, name="other")).id != other.id


def test_a_stale_version_changes_nothing(app: InProcessApp) -> None:
    rule = rules(app).create(app.context(), INPUT)
    rules(app).update(app.context(if_match=1), rule.id, replace(INPUT, enabled=False))
    with pytest.raises(VersionMismatch):
        rules(app).update(app.context(if_match=1), rule.id, INPUT)
    with pytest.raises(VersionMismatch):
        rules(app).delete(app.context(if_match=1), rule.id)
    assert rules(app).get(rule.id).enabled is False


def test_a_repeated_request_finds_the_rule_that_the_first_one_made(app: InProcessApp) -> None:
    key = new_id()
    first = rules(app).create(app.context(key=key), INPUT)
    assert rules(app).create(app.context(key=key), INPUT) == first
    assert len(listed(app)) == 1


def test_a_rule_that_does_not_exist_is_not_found(app: InProcessApp) -> None:
    for act in (
        lambda: rules(app).get(new_id()),
        lambda: rules(app).update(app.context(), new_id(), INPUT),
        lambda: rules(app).delete(app.context(), new_id()),
    ):
        with pytest.raises(NotFound):
            act()


@pytest.mark.parametrize("field", ["channel_ids", "source_ids", "pipeline_ids"])
def test_a_reference_to_nothing_is_refused_with_its_place(app: InProcessApp, field: str) -> None:
    known = {"channel_ids": lambda: stored_channel(app), "source_ids": lambda: app.source().id}
    first = known.get(field, lambda: app.pipeline().id)()
    rule = rules(app).create(app.context(), replace(INPUT, name="before"))
    wrong = replace(INPUT, **{field: (first, new_id())})
    for act in (
        lambda: rules(app).create(app.context(), wrong),
        lambda: rules(app).update(app.context(), rule.id, wrong),
    ):
        with pytest.raises(Invalid) as refused:
            act()
        assert refused.value.code == "REFERENCE_NOT_FOUND"
        assert refused.value.details == [{"location": ["body", field, 1], "type": "not_found"}]
    assert listed(app) == [rule]


def test_what_a_rule_names_already_may_have_been_deleted_since(app: InProcessApp) -> None:
    source = app.source()
    rule = rules(app).create(app.context(), replace(INPUT, source_ids=(source.id,)))
    app.services.sources.delete(app.context(), source.id)
    assert (
        rules(app).update(app.context(), rule.id, replace(INPUT, source_ids=(source.id,), enabled=False)).version == 2
    )


def test_a_channel_counts_the_rules_that_name_it(app: InProcessApp) -> None:
    one, two, three = (stored_channel(app, number) for number in range(3))
    rule = rules(app).create(app.context(), replace(INPUT, channel_ids=(one, two)))
    assert references(app, one, two, three) == [1, 1, 0]
    rules(app).update(app.context(), rule.id, replace(INPUT, channel_ids=(two, three)))
    assert references(app, one, two, three) == [0, 1, 1]
    other = rules(app).create(app.context(), replace(INPUT, name="other", channel_ids=(three,)))
    assert references(app, one, two, three) == [0, 1, 2]
    for gone in (rule, other):
        rules(app).delete(app.context(), gone.id)
    assert references(app, one, two, three) == [0, 0, 0]


def test_a_channel_that_a_rule_names_cannot_be_removed(app: InProcessApp) -> None:
    one = stored_channel(app)
    rules(app).create(app.context(), replace(INPUT, channel_ids=(one,)))
    with pytest.raises(WriteConflict):
        removed(app, one)


def test_a_channel_that_is_deleted_at_the_same_moment_is_a_reference_to_nothing(app: InProcessApp) -> None:
    rule = rules(app).create(app.context(), replace(INPUT, name="before"))
    one, two = stored_channel(app, 1), stored_channel(app, 2)
    with before_the_first_write(app, lambda: removed(app, one)), pytest.raises(Invalid) as refused:
        rules(app).create(app.context(), replace(INPUT, channel_ids=(one,)))
    assert refused.value.code == "REFERENCE_NOT_FOUND"
    with before_the_first_write(app, lambda: removed(app, two)), pytest.raises(Invalid) as refused:
        rules(app).update(app.context(), rule.id, replace(INPUT, channel_ids=(two,)))
    assert refused.value.code == "REFERENCE_NOT_FOUND"
    assert listed(app) == [rule]


def test_there_are_at_most_a_hundred_rules(app: InProcessApp) -> None:
    first = rules(app).create(app.context(key=id_from("the", "key")), INPUT)
    put_rows(copies(app.services.stores.alerts.rules, first, MAX_RULES - 1))
    with pytest.raises(Conflict, match="100 rules"):
        rules(app).create(app.context(), replace(INPUT, name="one more"))
    assert rules(app).create(app.context(key=first.id), INPUT) == first
    rules(app).delete(app.context(), first.id)
    rules(app).create(app.context(), replace(INPUT, name="one more"))


def test_a_rule_that_is_made_again_remembers_nothing(app: InProcessApp) -> None:
    """What it has sent is remembered under its id."""
    first = rules(app).create(app.context(), INPUT)
    rules(app).delete(app.context(), first.id)
    assert rules(app).create(app.context(), INPUT).id != first.id
