"""Any order of reports, operators, workers, rule changes and time: the manager does what the reference model says.

Many more steps, for half an hour:

.headgate/venv/bin/python -m pytest -c tests/pytest.ini -s -m long tests/service/alerts/manager/test_stateful.py
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from chalicelib.domain.alerts.alert import Alert, AlertStatus
from chalicelib.domain.alerts.channel import Channel
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.notification import MessageKind, Notification, NotificationStatus
from chalicelib.domain.alerts.rule import AlertRule, CooldownPolicy
from chalicelib.domain.alerts.track import Track
from chalicelib.domain.alerts.transitions import acknowledged, silenced, unsilenced
from chalicelib.domain.monitoring.condition import Condition, Severity
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.errors import Conflict, WriteConflict
from chalicelib.kit.clock import Deadline
from tests.service.alerts.manager.reference_model import CAUSE, Model, Report, Rule, seen
from tests.service.alerts.manager.stored_state import NAMES, StoredState
from tests.service.stores.conftest import Storage
from tests.support.alerting.manager import PIPELINE, Alerting
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.state_machines import run_state_machine

FEW, MANY = NAMES[:4], NAMES[1:]
ACTORS = ("ann@example.com", "bob@example.com")
JUMPS = (1, 60, 299, 300, 600, 899, 900, 1800)
SEVERITIES = {"critical": Severity.ERROR, "warning": Severity.WARNING}
FAULTS = st.dictionaries(st.sampled_from(FEW), st.sampled_from(sorted(SEVERITIES)))
STORMS = st.tuples(st.booleans(), st.sampled_from(sorted(SEVERITIES)), st.integers(10, len(MANY))).map(
    lambda drawn: dict.fromkeys((*MANY[: drawn[2]], *([CAUSE] if drawn[0] else [])), drawn[1])
)
REPORTS = st.tuples(
    st.one_of(FAULTS, FAULTS, FAULTS, FAULTS, FAULTS, STORMS),
    st.sampled_from((True, True, True, False)),
    st.none() | st.sets(st.sampled_from(MANY), min_size=len(MANY) - 2),
)
Made = tuple[MonitorReport, Report]
"""A report, for the product and for the model."""

SETTLED = ("delivered", "failed", "delivered", "cancelled")
MOVES = ("acknowledge", "silence", "silence for a while", "unsilence")


class Alerts(StoredState, RuleBasedStateMachine):
    """What monitors, operators, workers and administrators do. Reports may come late, twice and at the same time."""

    empty: ClassVar[Any]

    def __init__(self) -> None:
        super().__init__()
        self.storage.tables.restore(self.empty)
        self.alerting, self.model = Alerting(), Model(NAMES)
        self.alerting.register()
        self.channels: list[Channel] = []
        self.rules: list[AlertRule] = []
        self.reports: list[Made] = []
        self.known: set[str] = set()
        self.parsed: dict[tuple[str, int], Any] = {}

    # administrators

    @initialize(
        policies=st.tuples(*[st.sampled_from(CooldownPolicy)] * 2),
        cooldowns=st.tuples(*[st.sampled_from((0, 300, 900))] * 2),
        severe=st.booleans(),
    )
    def install(self, policies: tuple[CooldownPolicy, ...], cooldowns: tuple[int, ...], severe: bool) -> None:
        self.channels = [self.alerting.channel() for _ in range(3)]
        self.model.channels = dict.fromkeys(range(3), True)
        for number, channels in enumerate(((0, 1), (1, 2))):
            severities = ("critical",) if severe and number else ()
            self.rules.append(
                self.alerting.rule(
                    *(self.channels[number] for number in channels),
                    severities=tuple(map(AlertSeverity, severities)),
                    cooldown_policy=policies[number],
                    cooldown_seconds=cooldowns[number],
                )
            )
            self.model.rules[number] = Rule(channels, severities, policies[number], cooldowns[number])

    @rule(number=st.integers(0, 2), field=st.sampled_from(("enabled", "send_recovery", "channel")), value=st.booleans())
    def an_administrator_changes(self, number: int, field: str, value: bool) -> None:
        stores = self.alerting.stores
        if field == "channel":
            channel = replace(self.channels[number], enabled=value)
            self.channels[number], self.model.channels[number] = stores.channels.save_alone(channel), value
        else:
            rule_number = number % 2
            self.rules[rule_number] = stores.rules.save_alone(replace(self.rules[rule_number], **{field: value}))
            setattr(self.model.rules[rule_number], {"send_recovery": "recovery"}.get(field, field), value)

    # time and monitors

    @rule(seconds=st.sampled_from(JUMPS), schedule=st.booleans())
    def time_passes(self, seconds: float, schedule: bool) -> None:
        """The schedule may end silences then."""
        self.alerting.clock.advance(seconds)
        if schedule:
            self.alerting.manager.expire_silences(Deadline.after(60))
            for line in self.model.lines.values():
                if line.active:
                    line.active.expire(self.alerting.clock())

    @rule(drawn=REPORTS, seconds=st.sampled_from((0, 10, 60)))
    def report(self, drawn: Any, seconds: float) -> None:
        self._receive(self._made(drawn, seconds))

    @precondition(lambda self: self.reports)
    @rule(after=st.sampled_from((60, 300, 900)))
    def everything_heals_or_the_cluster_fails(self, after: float) -> None:
        """All that was wrong is well; if nothing was, the cluster fails."""
        faults = self.reports[-1][1].faults
        self._receive(self._made(({} if faults else {CAUSE: "critical"}, True, None), after))

    @rule(drawn=REPORTS)
    def a_report_is_on_its_way(self, drawn: Any) -> None:
        self._made(drawn, 1)

    @precondition(lambda self: self.reports)
    @rule(choice=st.integers(0, 5))
    def a_report_comes_late_or_again(self, choice: int) -> None:
        self._receive(self.reports[-1 - choice % len(self.reports)])

    @rule(drawn=st.tuples(FAULTS, st.booleans(), st.none()), other=st.integers(0, 5), call=st.integers(0, 6))
    def two_managers_at_the_same_time(self, drawn: Any, other: int, call: int) -> None:
        """Another report, or the same one, is handled by another process at one of the store calls of this one."""
        made = self._made(drawn, 1)
        second = self.reports[-1 - other % len(self.reports)]
        if second[1].storm:
            return
        manager = self.alerting.new_manager()
        self._both(
            made,
            lambda: self.alerting.receive(second[0], 60, manager=manager),
            lambda model: model.receive(second[1], self.alerting.clock()),
            call,
        )

    # operators

    @precondition(lambda self: self._active())
    @rule(choice=st.integers(0, 20), move=st.sampled_from(MOVES), actor=st.sampled_from(ACTORS))
    def an_operator_moves(self, choice: int, move: str, actor: str) -> None:
        name = self._chosen(choice)
        self._move(name, move, actor)
        self._move_model(self.model, name, move, actor)

    @precondition(lambda self: self._active())
    @rule(
        drawn=st.tuples(FAULTS, st.booleans(), st.none()),
        choice=st.integers(0, 20),
        move=st.sampled_from(MOVES),
        call=st.integers(0, 6),
    )
    def an_operator_moves_during_a_report(self, drawn: Any, choice: int, move: str, call: int) -> None:
        made, name = self._made(drawn, 1), self._chosen(choice)
        self._both(
            made,
            lambda: self._move(name, move, ACTORS[0]),
            lambda model: self._move_model(model, name, move, ACTORS[0]),
            call,
        )

    # workers and the schedule

    @rule(statuses=st.lists(st.sampled_from(SETTLED), min_size=1, max_size=4))
    def a_worker_runs(self, statuses: list[str]) -> None:
        """Open messages end so; those of alerts that are silenced, or were when they ended, are suppressed."""
        alerts = {alert.id: alert for alert in self._alerts()}
        for number, row in enumerate(self._rows()):
            if row.status.is_open:
                alert = alerts[row.alert_id]
                silenced_now = alert.status_at(self.alerting.clock()) is AlertStatus.SILENCED
                quiet = silenced_now or alert.was_silenced_at_its_end
                status = "suppressed" if quiet else statuses[number % len(statuses)]
                self.alerting.stores.notifications.save_alone(replace(row, status=NotificationStatus(status)))
                self._model_row(row).status = status

    # what has to be so

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        alerts, rows, tracks = self._alerts(), self._rows(), self._stored(Track, "alert-tracks")
        stored = self._found(alerts, rows)
        for name in NAMES:
            assert stored[name] == seen(self.model.lines[name]), name
        self._is_consistent(alerts, rows, {track.id: track.alert_id for track in tracks})

    def _is_consistent(self, alerts: list[Alert], rows: list[Notification], tracks: Mapping[str, str | None]) -> None:
        """One active alert for each fingerprint, and its track names it. A recovery follows a firing message. Nothing
        is queued about what is silenced.
        """
        active = [alert for alert in alerts if alert.is_active]
        assert len({alert.fingerprint for alert in active}) == len(active)
        assert {one: alert_id for one, alert_id in tracks.items() if alert_id} == {
            alert.fingerprint: alert.id for alert in active
        }
        by_id, by_alert = {row.id: row for row in rows}, {alert.id: alert for alert in alerts}
        assert len(by_id) == len(rows)
        for row in rows:
            if row.kind is MessageKind.RESOLVED:
                assert by_id[row.after_id or ""].kind is MessageKind.FIRING
            if row.id not in self.known and row.status.is_open:
                assert by_alert[row.alert_id].status is not AlertStatus.SILENCED
        self.known = set(by_id)

    # inside

    def _made(self, drawn: Any, seconds: float) -> Made:
        """A report of now, for the product and for the model."""
        faults, complete, existing = drawn
        self.alerting.clock.advance(seconds)
        conditions = [self._condition(name, severity) for name, severity in sorted(faults.items())]
        seen_tasks = None if existing is None else {f"hg-source-{PIPELINE}": {int(task) for task in existing}}
        report = self.alerting.report_now(*conditions, tasks=seen_tasks)
        report = report if complete else replace(report, looked_at=frozenset())
        made = report, Report(at=self.alerting.clock(), faults=faults, complete=complete, existing=existing)
        self.reports = [*self.reports, made][-8:]
        return made

    def _condition(self, name: str, severity: str) -> Condition:
        alerting = self.alerting
        condition = alerting.cluster_unavailable() if name == CAUSE else alerting.task_failed(int(name))
        return replace(condition, severity=SEVERITIES[severity])

    def _receive(self, made: Made) -> None:
        assert self.alerting.receive(made[0], 60)
        self.model.receive(made[1], self.alerting.clock())

    def _both(
        self,
        made: Made,
        act: Callable[[], object],
        on_model: Callable[[Model], object],
        at: int,
    ) -> None:
        """`act` happens at a store call of a report. Each alert is as if one of the two had come first. Where it is
        so for both orders, the same follows from both.
        """

        def mode(point: Point, call: InterceptedCall) -> object:
            if point.number == at:
                with self.storage.interceptor.unrecorded():
                    act()
            return call()

        first, second = deepcopy(self.model), deepcopy(self.model)
        first.receive(made[1], self.alerting.clock())
        on_model(first)
        on_model(second)
        second.receive(made[1], self.alerting.clock())
        self.storage.interceptor.watch(mode)
        assert self.alerting.receive(made[0], 60)
        if len(self.storage.interceptor.unwatch()) <= at:
            act()
        stored = self._found(self._alerts(), self._rows())
        for name in NAMES:
            lines = [model.lines[name] for model in (first, second) if seen(model.lines[name]) == stored[name]]
            assert lines, (name, stored[name], seen(first.lines[name]), seen(second.lines[name]))
            assert all(line.memory == lines[0].memory for line in lines), (name, lines)
            self.model.lines[name] = lines[0]

    def _active(self) -> list[str]:
        return [name for name, line in self.model.lines.items() if line.active]

    def _chosen(self, choice: int) -> str:
        active = self._active()
        return active[choice % len(active)]

    def _move(self, name: str, move: str, actor: str) -> None:
        """What the API does."""
        now = self.alerting.clock()
        alert = max((alert for alert in self._alerts() if self._name(alert) == name), key=lambda alert: alert.episode)
        until = now + timedelta(seconds=600) if move == "silence for a while" else None
        try:
            match move:
                case "acknowledge":
                    after = acknowledged(alert, actor, now)
                case "unsilence":
                    after = unsilenced(alert, actor, now)
                case _:
                    after = silenced(alert, actor, until, None, now)
            self.alerting.change(after)
        except WriteConflict:
            self._move(name, move, actor)
        except Conflict:
            assert not alert.is_active

    def _move_model(self, model: Model, name: str, move: str, actor: str) -> None:
        now, alert = self.alerting.clock(), model.lines[name].active
        if alert is None:
            return
        alert.expire(now)
        match move:
            case "acknowledge":
                alert.status, alert.until, alert.acknowledged = "acknowledged", None, alert.acknowledged or actor
            case "unsilence":
                alert.unsilence()
            case _:
                alert.status, alert.silence_open = "silenced", True
                alert.until = now + timedelta(seconds=600) if move == "silence for a while" else None


@pytest.mark.parametrize(
    ("examples", "steps"),
    [
        (5, 30),
        pytest.param(30, 40, marks=pytest.mark.thorough),
        pytest.param(520, 50, marks=pytest.mark.long),
    ],
    ids=["few", "some", "many"],
)
def test_the_manager_does_what_the_model_says(storage: Storage, examples: int, steps: int) -> None:
    Alerts.storage, Alerts.empty = storage, storage.tables.snapshot()
    run_state_machine(Alerts, examples=examples, steps=steps)
