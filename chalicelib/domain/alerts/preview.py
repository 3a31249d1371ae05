"""What a rule would have sent: alerts that are stored, decided again as if the rule had been made before them.

Each episode is judged once, by the worst severity that it had. The rule counts as enabled and as having a channel, so
that it can be tried before it is complete. A message counts once however many channels it goes to, and a recovery does
not count.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby

from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.cooldown import Audience, NotificationRequest, Occasion, fan_out
from chalicelib.domain.alerts.inhibition import sent_before, storms
from chalicelib.domain.alerts.rule import AlertRule, AlertRuleValues
from chalicelib.domain.alerts.track import RuleLedger

PREVIEWED = timedelta(days=7)
MAX_PREVIEWED = 1_000
"""Alerts that are read for a preview, the newest."""

MAX_EXAMPLES = 20
_ID = _CHANNEL = "preview"


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePreview:
    """How many alerts a rule would have sent a message about, and the newest of these."""

    count: int
    examples: Sequence[Alert]


def preview(values: AlertRuleValues, alerts: Iterable[Alert], now: datetime) -> RulePreview:
    """What a rule with these values would have sent about the alerts, in whatever order they are."""
    given = {**asdict(values), "enabled": True, "channel_ids": (_CHANNEL,)}
    rule = AlertRule(**given, id=_ID, created_at=now, updated_at=now)
    oldest_first = sorted(map(_at_worst, alerts), key=_report)
    sent = list(_sent(rule, oldest_first))
    return RulePreview(count=len(sent), examples=sent[: -MAX_EXAMPLES - 1 : -1])


def _at_worst(alert: Alert) -> Alert:
    """The alert with its worst severity, and sent to nobody yet."""
    return replace(alert, event=replace(alert.event, severity=alert.max_severity), sent_to={}, not_sent=None)


def _sent(rule: AlertRule, oldest_first: Sequence[Alert]) -> Iterator[Alert]:
    audience = Audience(rules=(rule,), channel_ids=frozenset({_CHANNEL}))
    ledgers: dict[str, Mapping[str, RuleLedger]] = {}
    active: dict[str, Alert] = {}
    for (at, origin), group in groupby(oldest_first, key=_report):
        new = {alert.fingerprint: alert for alert in group}
        active = {key: alert for key, alert in active.items() if alert.resolved_at is None or alert.resolved_at > at}
        causes = _causes(new, active, origin)
        active |= new
        # In maintenance no rule is evaluated.
        for alert in (alert for alert in new.values() if alert.maintenance_id is None):
            key, cause = alert.fingerprint, causes.get(alert.fingerprint)
            request = NotificationRequest(
                occasion=Occasion.OPENED,
                alert_id=alert.id,
                episode=alert.episode,
                sequence=1,
                at=at,
                muted=audience.reached_by(cause.event) if cause else (),
            )
            fanned = fan_out(alert.event, audience, ledgers.get(key, {}), request)
            ledgers[key] = fanned.ledgers
            if fanned.not_sent is None:
                active[key] = replace(alert, sent_to=fanned.channels)
                yield alert


def _report(alert: Alert) -> tuple[datetime, str]:
    """What is equal for alerts that one report has opened."""
    return alert.first_seen_at, alert.origin


def _causes(new: Mapping[str, Alert], active: Mapping[str, Alert], origin: str) -> Mapping[str, Alert]:
    """The alerts that stand for new ones, by the fingerprints of these: one cause is one message."""
    everything = {**active, **new}
    named = [alert.event for alert in everything.values() if alert.origin == origin]
    found = storms(named, [alert.event for alert in everything.values()])
    cause_of = {**sent_before([alert.event for alert in new.values()], active.values()), **found.cause_of}
    causes = {key: everything[cause_of[key]] for key in new if key in cause_of}
    # Nothing mutes what is worse than itself.
    return {key: cause for key, cause in causes.items() if new[key].severity.rank >= cause.severity.rank}
