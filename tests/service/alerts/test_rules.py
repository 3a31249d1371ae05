"""Alert rules: how they are stored, and the one that is there from the beginning."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib.domain.alerts.rule import MAX_RULES, AlertRule
from chalicelib.errors import Conflict, Invalid, NotFound, VersionMismatch
from chalicelib.kit.ids import id_from, new_id
from chalicelib.services.alerts.rules import DEFAULT_RULE_ID, AlertRuleService, AlertRuleValues
from tests.bench.seeds import copies, put_rows
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp
from tests.support.entities import make_channel
from tests.support.faults import places
from tests.support.stored import put, remove

INPUT = AlertRuleValues(name="critical")


def rules(app: InProcessApp) -> AlertRuleService:
    return app.services.alerting.rules


def stored_channel(app: InProcessApp, number: int = 0) -> str:
    """The id of a channel."""
    return put(app.services.stores.alerts.channels, make_channel(number)).id


def references(app: InProcessApp, *channel_ids: str) -> list[int]:
    return [app.services.stores.alerts.channels.references(channel_id) for channel_id in channel_ids]


def listed(app: InProcessApp) -> list[AlertRule]:
    return list(rules(app).list(limit=500, after=None).items)


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
    assert (rule.is_default, rule.enabled, rule.channel_ids) == (True, True, ())
    (record,) = app.audit_records(DEFAULT_RULE_ID, meaningful=True)
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


def test_each_change_leaves_an_audit_record_of_what_differs(app: InProcessApp) -> None:
    rule = rules(app).create(app.context(), INPUT)
    app.clock.advance(1)
    rules(app).update(app.context(), rule.id, replace(INPUT, cooldown_seconds=60, send_recovery=False))
    app.clock.advance(1)
    rules(app).delete(app.context(), rule.id)
    delete, update, create = app.audit_records(rule.id, meaningful=True)
    assert [record.action for record in (create, update, delete)] == [
        "alert_rule.create", "alert_rule.update", "alert_rule.delete",
    ]  # fmt: skip
    assert (create.after or {})["cooldown_policy"] == "notify_after_cooldown"
    assert (update.before or {})["cooldown_seconds"] == 900
    assert {name: (update.after or {})[name] for name in ("cooldown_seconds", "send_recovery", "version")} == {
        "cooldown_seconds": 60, "send_recovery": False, "version": 2,
    }  # fmt: skip
    assert (delete.before or {})["name"] == "critical"


def test_a_stale_version_changes_nothing(app: InProcessApp) -> None:
    rule = rules(app).create(app.context(), INPUT)
    rules(app).update(app.context(if_match=1), rule.id, replace(INPUT, enabled=False))
    with pytest.raises(VersionMismatch):
        rules(app).update(app.context(if_match=1), rule.id, INPUT)
    with pytest.raises(VersionMismatch):
        rules(app).delete(app.context(if_match=1), rule.id)
    assert rules(app).get(rule.id).enabled is False


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
        assert places(refused.value.details) == [{"location": ["body", field, 1], "type": "not_found"}]
    assert listed(app) == [rule]


def test_what_a_rule_names_already_may_have_been_deleted_since(app: InProcessApp) -> None:
    source = app.source()
    rule = rules(app).create(app.context(), replace(INPUT, source_ids=(source.id,)))
    app.services.sources.delete(app.context(), source.id)
    changed = replace(INPUT, source_ids=(source.id,), enabled=False)
    assert rules(app).update(app.context(), rule.id, changed).version == 2


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


def test_a_channel_that_is_deleted_at_the_same_moment_is_a_reference_to_nothing(app: InProcessApp) -> None:
    rule = rules(app).create(app.context(), replace(INPUT, name="before"))
    first, second = stored_channel(app, 1), stored_channel(app, 2)
    channels = app.services.stores.alerts.channels
    with before_the_first_write(app, lambda: remove(channels, first)), pytest.raises(Invalid) as refused:
        rules(app).create(app.context(), replace(INPUT, channel_ids=(first,)))
    assert refused.value.code == "REFERENCE_NOT_FOUND"
    with before_the_first_write(app, lambda: remove(channels, second)), pytest.raises(Invalid) as refused:
        rules(app).update(app.context(), rule.id, replace(INPUT, channel_ids=(second,)))
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
