"""What people do with alert rules, alerts and the test of a channel, through the whole API."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from chalicelib.api.contract.maintenance import MaintenanceBody
from chalicelib.domain.alerts.maintenance import MaintenanceWindow
from chalicelib.domain.alerts.rule import AlertRule, AlertRuleValues
from chalicelib.kit.clock import rfc3339
from tests.faults.cases.incidents import fail
from tests.faults.cases.operation_case import PreparedOperation, named_cases
from tests.faults.cases.registered import api_operation, changing, channel, creating, deleting
from tests.faults.inspection import Json, bodies, running_pipeline
from tests.support.alerting.notifications import resolving, senders
from tests.support.apps.in_process_app import InProcessApp

RULES = "/alert-rules"
BETWEEN_TESTS = 6
"""Seconds. A channel is tested once in five."""


def rule_body(app: InProcessApp, name: str) -> Json:
    """A rule that names a channel, which counts that."""
    return {"name": name, "severities": ["critical"], "channel_ids": [channel(app).id]}


def rule(app: InProcessApp) -> AlertRule:
    """A rule without channels."""
    return app.services.alerting.rules.create(app.context(), AlertRuleValues(name="rule"))


def rule_of_channel(app: InProcessApp) -> AlertRule:
    data = AlertRuleValues(name="rule", channel_ids=(channel(app).id,))
    return app.services.alerting.rules.create(app.context(), data)


def window_body(app: InProcessApp, name: str) -> Json:
    """Work on a source, from now on. Another window is over: the request that makes one closes it."""
    data = MaintenanceBody.model_validate(_window(app, "over")).to_values()
    app.services.alerting.maintenance.create(app.context(), data)
    app.clock.advance(3_600)
    return _window(app, name)


def _window(app: InProcessApp, name: str) -> Json:
    begin, end = (rfc3339(app.clock() + timedelta(seconds=seconds)) for seconds in (0, 3_600))
    return {"name": name, "from": begin, "until": end, "reason": "upgrade", "scope": {"labels": {"team": "shop"}}}


def window(app: InProcessApp) -> MaintenanceWindow:
    data = MaintenanceBody.model_validate(_window(app, "window")).to_values()
    return app.services.alerting.maintenance.create(app.context(), data)


def moving(*verbs: str, status: str) -> Callable[[InProcessApp], PreparedOperation]:
    """A person does the last of these with an alert, after the others."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        fail(app, running_pipeline(app))
        app.tick()
        alert_id = bodies(app, "alerts")[0]["id"]
        for verb in verbs[:-1]:
            api_operation(app, "POST", f"/alerts/{alert_id}/{verb}", is_done=lambda: True).request()
            app.clock.advance(1)

        def is_done() -> bool:
            return next(one["status"] for one in bodies(app, "alerts") if one["id"] == alert_id) == status

        return api_operation(app, "POST", f"/alerts/{alert_id}/{verbs[-1]}", is_done=is_done)

    return prepare


def channel_test(app: InProcessApp) -> PreparedOperation:
    """Its host is not found: that it was tried is noted and audited."""
    app.senders = senders(resolve=resolving({}))
    app.restart()

    def is_done() -> bool:
        return any(one["action"] == "notification_channel.test" for one in bodies(app, "audit"))

    operation = api_operation(app, "POST", f"/notification-channels/{channel(app).id}/test", is_done=is_done)

    def request() -> object:
        app.clock.advance(BETWEEN_TESTS)
        return operation.request()

    return replace(operation, request=request)


ALERTING_CASES = named_cases(
    ("alert rule create", creating(RULES, lambda app: rule_body(app, "new"))),
    ("alert rule update", changing(RULES, rule, lambda app: rule_body(app, "other"))),
    ("alert rule delete", deleting(RULES, rule_of_channel)),
    ("alert acknowledge", moving("acknowledge", status="acknowledged")),
    ("alert silence", moving("silence", status="silenced")),
    ("alert unsilence", moving("silence", "unsilence", status="firing")),
    ("maintenance create", creating("/maintenance", lambda app: window_body(app, "new"))),
    ("maintenance delete", deleting("/maintenance", window)),
    ("channel test", channel_test),
)
