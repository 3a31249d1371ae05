"""The alerting contract (sections 2.2, 3 and S2), as a small program that knows neither stores nor processes.

It follows the text of the contract, one fingerprint at a time, and shares no code with the product.
"""

from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

RANKS = {"critical": 0, "warning": 1}
NOBODY = ("failed", "suppressed", "cancelled")
CAUSE = "cluster"
"""The Connect cluster, the cause of storms; everything else are tasks."""


@dataclass
class Rule:
    """A rule of the model; `channels` are numbers."""

    channels: tuple[int, ...]
    severities: tuple[str, ...] = ()
    policy: str = "notify_after_cooldown"
    cooldown: int = 900
    recovery: bool = True
    enabled: bool = True


@dataclass
class Row:
    """A message to a channel. `after` is the number of the firing message that a recovery follows."""

    episode: int
    kind: str
    number: int
    channel: int
    rules: tuple[int, ...]
    status: str
    muted: int = 0
    after: int | None = None


@dataclass
class Alert:
    """One episode. `cycles` are the reports that have found it. `no_channel`: a rule wanted to tell, and had none."""

    episode: int
    severity: str
    top: str
    newest: datetime
    cycles: set[datetime]
    status: str = "firing"
    acknowledged: str | None = None
    until: datetime | None = None
    silence_open: bool = False
    stale: bool = False
    unseen: int = 0
    number: int = 0
    rules_of: dict[int, list[int]] = field(default_factory=dict)
    cause: int | None = None
    since_cause: int = 0
    removed: bool = False
    no_channel: bool = False
    flapping: bool = False
    ended: datetime | None = None

    def expire(self, now: datetime) -> None:
        if self.status == "silenced" and self.until and self.until <= now:
            self.unsilence()

    def unsilence(self) -> None:
        if self.status == "silenced":
            self.status, self.until = "acknowledged" if self.acknowledged else "firing", None


@dataclass
class Line:
    """Everything about one fingerprint. `anchors`: rule -> time, episode and number of its last message, its rows."""

    alerts: list[Alert] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    ended: datetime | None = None
    changes: list[datetime] = field(default_factory=list)
    anchors: dict[int, tuple[datetime, list[Row]]] = field(default_factory=dict)
    muted: dict[int, list[int]] = field(default_factory=dict)

    @property
    def active(self) -> Alert | None:
        return self.alerts[-1] if self.alerts and self.alerts[-1].status != "resolved" else None

    @property
    def memory(self) -> "Line":
        """All that decides about what comes next: the line without the alerts that have ended."""
        return replace(self, alerts=[self.active] if self.active else [])

    def changed(self, at: datetime) -> bool:
        """Whether it flaps with this change."""
        self.changes.append(at)
        return sum(at - one <= timedelta(minutes=30) for one in self.changes) >= 6

    def sent(self, alert: Alert, channel: int) -> list[Row]:
        """The firing messages to a channel in this episode that may reach somebody."""
        mine = [row for row in self.rows if (row.episode, row.channel, row.kind) == (alert.episode, channel, "firing")]
        return [row for row in mine if row.status not in ("suppressed", "cancelled")]


@dataclass
class Report:
    """What the monitor says: severities by fault, whether it saw everything, and the tasks that it saw."""

    at: datetime
    faults: Mapping[str, str]
    complete: bool
    existing: Collection[str] | None

    @property
    def storm(self) -> bool:
        return len(self.faults.keys() - {CAUSE}) > 10


@dataclass
class Model:
    """The state of everything, by fault."""

    names: tuple[str, ...]
    rules: dict[int, Rule] = field(default_factory=dict)
    channels: dict[int, bool] = field(default_factory=dict)
    lines: dict[str, Line] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lines = {name: Line() for name in self.names}

    def receive(self, report: Report, now: datetime) -> None:
        """Apply a report: the cause first."""
        before = self.lines[CAUSE].active
        self.lines[CAUSE] = self.after(CAUSE, report, now, None)
        cause = self.lines[CAUSE].active
        named = CAUSE in report.faults or not report.complete
        for name in self.names:
            if name != CAUSE:
                stands = cause if report.storm and named else None
                mine = self.lines[name].active
                if stands is None and before and mine and mine.cause == before.episode:
                    stands = before
                if stands and name in report.faults and RANKS[report.faults[name]] < RANKS[stands.severity]:
                    stands = None
                self.lines[name] = self.after(name, report, now, stands)

    def after(self, name: str, report: Report, now: datetime, cause: Alert | None) -> Line:
        """A new line: this one after the report."""
        line = deepcopy(self.lines[name])
        alert, severity = line.active, report.faults.get(name)
        if alert is None:
            if severity and (line.ended is None or report.at > line.ended):
                self._open(line, severity, report.at, cause)
        elif report.at > alert.newest:
            if severity:
                self._observe(line, alert, severity, report.at, now, cause)
            elif not report.complete:
                if not alert.stale:
                    alert.stale, alert.newest = True, report.at
            else:
                self._missing(line, alert, name, report, now)
        return line

    def _open(self, line: Line, severity: str, at: datetime, cause: Alert | None) -> None:
        if line.ended and at - line.ended >= timedelta(days=30):
            line.anchors, line.muted = {}, {}
        alert = Alert(episode=len(line.alerts) + 1, severity=severity, top=severity, newest=at, cycles={at})
        line.alerts.append(alert)
        alert.flapping = line.changed(at)
        self._notify(line, alert, "opened", at, cause)

    def _observe(
        self, line: Line, alert: Alert, severity: str, at: datetime, now: datetime, cause: Alert | None
    ) -> None:
        untold = alert.status == "firing" and alert.no_channel
        alert.expire(now)
        raised = RANKS[severity] < RANKS[alert.top]
        alert.severity, alert.newest, alert.stale, alert.unseen = severity, at, False, 0
        alert.top = severity if raised else alert.top
        alert.cycles.add(at)
        alert.flapping = alert.flapping and at - min(alert.cycles) < timedelta(minutes=30)
        released = False
        if alert.cause is not None:
            alert.since_cause = 0 if cause else alert.since_cause + 1
            alert.cause = cause.episode if cause else alert.cause
            if alert.since_cause == 2:
                alert.cause, alert.since_cause, released = None, 0, True
        if alert.status == "silenced":
            alert.no_channel = alert.no_channel and self._was_sent(line, alert)
            return
        reached = untold and any(map(self._open_channels, self._matching(severity)))
        firing = alert.status == "firing"
        forgotten = alert.silence_open and alert.cause is None and not self._was_sent(line, alert)
        if raised or (firing and alert.cause is None):
            alert.silence_open = False
        if raised:
            self._notify(line, alert, "raised", at, cause)
        elif firing and (released or forgotten or reached):
            self._notify(line, alert, "late", at, cause)

    def _was_sent(self, line: Line, alert: Alert) -> bool:
        return any(line.sent(alert, channel) for channel in alert.rules_of)

    def _missing(self, line: Line, alert: Alert, name: str, report: Report, now: datetime) -> None:
        removed = False
        if name != CAUSE and report.existing is not None and name not in report.existing:
            alert.unseen += 1
            alert.stale, alert.newest = False, report.at
            if alert.unseen < 3:
                return
            removed = True
        alert.expire(now)
        silenced = alert.status == "silenced"
        alert.status, alert.removed, alert.stale, alert.newest = "resolved", removed, False, report.at
        line.ended = alert.ended = report.at
        alert.flapping = line.changed(report.at)
        if not silenced:
            self._recover(line, alert)

    def _recover(self, line: Line, alert: Alert) -> None:
        for channel, rules in alert.rules_of.items():
            wish = tuple(one for one in rules if self.rules[one].enabled and self.rules[one].recovery)
            sent = line.sent(alert, channel)
            if wish and sent and self.channels[channel]:
                line.rows.append(
                    Row(alert.episode, "resolved", alert.number, channel, wish, "queued", after=sent[-1].number)
                )

    def _notify(self, line: Line, alert: Alert, occasion: str, at: datetime, cause: Alert | None) -> None:
        asked = self._asked(line, alert, occasion)
        wanted = len(asked) < len(self._matching(alert.severity))
        hears = {one for rule in self._matching(cause.severity) for one in rule.channels} if cause else set()
        targets: dict[int, list[int]] = {}
        muted = 0
        for number, channels in asked.items():
            if not self._passes(line, number, self.rules[number], occasion, at):
                if occasion == "opened":
                    line.muted.setdefault(number, []).append(alert.episode)
                continue
            for one in channels:
                targets.setdefault(one, []).append(number)
            if set(channels) - hears:
                muted = max(muted, sum(one != alert.episode for one in line.muted.pop(number, [])))
        held_back = len(asked) > len({rule for rules in targets.values() for rule in rules})
        alert.no_channel = wanted and not (targets or held_back or self._was_sent(line, alert))
        if not targets:
            return
        alert.number += 1
        rows = {}
        for one, rules in targets.items():
            status = "suppressed" if one in hears else "queued"
            rows[one] = Row(alert.episode, "firing", alert.number, one, tuple(rules), status, muted)
        line.rows += rows.values()
        heard = [one for one in rows if one not in hears]
        for one in heard:
            known = alert.rules_of.setdefault(one, [])
            known += [rule for rule in targets[one] if rule not in known]
        for number in {rule for one in heard for rule in targets[one]}:
            line.anchors[number] = (at, [rows[one] for one in heard if number in targets[one]])
        alert.cause = cause.episode if cause and len(heard) < len(rows) else None

    def _open_channels(self, rule: Rule) -> list[int]:
        return [one for one in rule.channels if self.channels[one]]

    def _asked(self, line: Line, alert: Alert, occasion: str) -> dict[int, list[int]]:
        """The rules that match, each with its enabled channels; late, only those that were not reached."""
        reached = {one for one in alert.rules_of if line.sent(alert, one)} if occasion == "late" else set()
        asked = {}
        for number, rule in self.rules.items():
            channels = [one for one in rule.channels if self.channels[one] and one not in reached]
            if rule in self._matching(alert.severity) and channels:
                asked[number] = channels
        return asked

    def _matching(self, severity: str) -> list[Rule]:
        rules = self.rules.values()
        return [one for one in rules if one.enabled and (not one.severities or severity in one.severities)]

    def _passes(self, line: Line, number: int, rule: Rule, occasion: str, at: datetime) -> bool:
        anchor, rows = line.anchors.get(number, (None, []))
        if occasion == "raised" or anchor is None or all(row.status in NOBODY for row in rows):
            return True
        if rule.policy == "notify_after_cooldown":
            return at - anchor >= timedelta(seconds=rule.cooldown)
        return rule.policy == "notify_every_occurrence"


def seen(line: Line) -> Any:
    """What people see of a fingerprint, and what the next moves of an active alert depend on: after two reports at the
    same time, that alone may tell which one came first.
    """
    alerts = [
        (
            alert.episode, alert.status, alert.severity, alert.top, len(alert.cycles), alert.acknowledged, alert.until,
            alert.stale, alert.flapping, alert.removed, alert.cause is not None, alert.ended,
            alert.status != "resolved"
            and (alert.newest, alert.unseen, alert.since_cause, alert.silence_open, alert.no_channel),
        )
        for alert in line.alerts
    ]  # fmt: skip
    rows = [
        (row.episode, row.kind, row.number, row.channel, tuple(sorted(row.rules)), row.status, row.muted, row.after)
        for row in line.rows
    ]
    return alerts, sorted(rows, key=repr)
