"""An alert manager over real stores, with a clock and reports that a test controls.

    def test_something(alerting: Alerting) -> None:
        rule = alerting.rule(alerting.channel())
        alerting.report(alerting.task_failed(0))
        assert len(alerting.rows()) == 1

One source, one destination and one Connect cluster are registered, with a pipeline and a delivery between them.
"""

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from chalicelib.domain.addresses import ConnectAddress, DatabaseAddress
from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.channel import Channel
from chalicelib.domain.alerts.maintenance import MaintenanceScope, MaintenanceWindow, active_at
from chalicelib.domain.alerts.notification import MessageKind, Notification, NotificationStatus
from chalicelib.domain.alerts.rule import AlertRule
from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import Delivery, TableWriting
from chalicelib.domain.destination import Destination
from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Severity
from chalicelib.domain.monitoring.episodes import Episode, Episodes, Sight
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.domain.pipeline import Capture
from chalicelib.domain.source import Source
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import id_from, new_id
from chalicelib.services.alerts.backlogs import Backlogs
from chalicelib.services.alerts.event_names import EventNames
from chalicelib.services.alerts.manager import AlertManager
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.documents import Documents
from chalicelib.stores.monitoring.group import MonitoringStores
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.sources import Sources
from chalicelib.stores.timeline import Timeline
from tests.support.apps.in_process_app import START_TIME, VirtualClock
from tests.support.entities import make_channel, make_pipeline, make_rule
from tests.support.stored import put

PUBLIC_URL = "https://headgate.example.com"
CLUSTER, SOURCE, DESTINATION, PIPELINE, DELIVERY = (
    id_from("test", noun) for noun in ("cluster", "source", "destination", "pipeline", "delivery")
)
OTHER_SOURCE, OTHER_PIPELINE, OTHER_DESTINATION = (id_from("test", f"other {noun}") for noun in ("s", "p", "d"))
CLUSTER_ORIGIN, SOURCE_ORIGIN = f"connect_cluster/{CLUSTER}", f"source/{SOURCE}"


RESOURCES: Mapping[str, Documents[Any]] = {
    store.noun: store for store in (Sources(), Destinations(), ConnectClusters(), Pipelines(), Deliveries())
}


@dataclass(kw_only=True)
class Alerting:
    """Alerting without monitors, incidents and workers: `woken` are the channels that a worker was woken for, `deleted`
    the ids of resources whose incidents have ended with their deletion.
    """

    clock: VirtualClock = field(default_factory=VirtualClock)
    woken: list[str] = field(default_factory=list)
    wake: Callable[[str], None] | None = None
    deleted: set[str] = field(default_factory=set)
    _conditions: dict[str, Condition] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.stores = AlertStores()
        self.manager = self.new_manager()

    def new_manager(self, clock: Callable[[], datetime] | None = None) -> AlertManager:
        """A manager as another process has it."""
        return AlertManager(
            stores=self.stores,
            timeline=Timeline(),
            windows=lambda: active_at(self.stores.maintenance.not_closed(), self.clock()),
            names=lambda: EventNames(RESOURCES, Backlogs(monitoring=MonitoringStores(), clock=clock or self.clock)),
            wake=self.wake or self.woken.append,
            public_url=PUBLIC_URL,
            clock=clock or self.clock,
        )

    # what is registered

    def register(self) -> None:
        for store, entity in _resources():
            put(store, entity)

    def channel(self, **fields: Any) -> Channel:
        return put(self.stores.channels, make_channel(next(self._numbers), **fields))

    def rule(self, *channels: Channel, **fields: Any) -> AlertRule:
        """A new rule that sends everything to these channels, but for the fields that are given."""
        channel_ids = tuple(channel.id for channel in channels)
        return put(self.stores.rules, make_rule(next(self._numbers), channel_ids=channel_ids, **fields))

    # what is wrong

    def task_failed(self, task_id: int = 0, *, pipeline: str = PIPELINE, **fields: Any) -> Condition:
        """A failed task of a pipeline's connector."""
        condition = Condition(
            code=ConditionCode.CONNECT_TASK_FAILED, resource_type="pipeline", resource_id=pipeline, task_id=task_id,
            message=f"Task {task_id} of the connector has failed.", connector_name=f"hg-source-{pipeline}",
        )  # fmt: skip
        return replace(condition, **fields)

    def connector_failed(self, *, pipeline: str = PIPELINE) -> Condition:
        return replace(self.task_failed(pipeline=pipeline), code=ConditionCode.CONNECTOR_FAILED, task_id=None)

    def cluster_unavailable(self) -> Condition:
        """Nothing can be said about the connectors of the cluster."""
        return Condition(
            code=ConditionCode.STREAM_CONNECT_UNAVAILABLE,
            resource_type="connect_cluster",
            resource_id=CLUSTER,
            message="no answer",
        )

    def source_failed(
        self, code: ConditionCode = ConditionCode.SOURCE_DATABASE_UNAVAILABLE, **fields: Any
    ) -> Condition:
        """The source's database cannot be used."""
        condition = Condition(code=code, resource_type="source", resource_id=SOURCE, message="no answer")
        return replace(condition, **fields)

    def maintenance(self, seconds: float = 600, **scope: Any) -> MaintenanceWindow:
        """A window that begins now and lasts so long."""
        now = self.clock()
        window = MaintenanceWindow(
            id=new_id(), name="upgrade", starts_at=now, until=now + timedelta(seconds=seconds), reason="planned",
            scope=MaintenanceScope(**scope), created_by="ann@example.com", created_at=now,
        )  # fmt: skip
        return put(self.stores.maintenance, window)

    # time and reports

    def report(self, *conditions: Condition, after: float = 60, **options: Any) -> MonitorReport:
        """Let time pass, then publish everything that is wrong at the Connect cluster; all of it is recorded. The
        options are those of `report_now`.
        """
        self.clock.advance(after)
        report = self.report_now(*conditions, **options)
        assert self.receive(report)
        return report

    def report_now(
        self,
        *conditions: Condition,
        complete: bool = True,
        tasks: Mapping[str, Collection[int]] | None = None,
        origin: str = CLUSTER_ORIGIN,
    ) -> MonitorReport:
        """A report that nobody has received yet."""
        existing = {name: frozenset(ids) for name, ids in (tasks or {}).items()}
        looked_at = None if complete else frozenset({CLUSTER})
        return MonitorReport(origin=origin, at=self.clock(), conditions=conditions, looked_at=looked_at, tasks=existing)

    def receive(self, report: MonitorReport, seconds: float = 20, *, manager: AlertManager | None = None) -> bool:
        """What the bus does with a report."""
        return self.follow(report, Deadline.after(seconds), manager=manager)

    def follow(self, report: MonitorReport, deadline: Deadline, *, manager: AlertManager | None = None) -> bool:
        manager = manager or self.manager
        active = manager.active(report.origin)
        return manager.follow(self.episodes(report), active, deadline)

    def repeat(self, condition: Condition, seen_at: datetime) -> bool:
        """A minute later, a report of an origin at which nobody looks: the condition was seen then."""
        self.clock.advance(60)
        report = replace(self.report_now(), repeated=True)
        stands = Episode(condition=condition, sight=Sight.REPEATED, seen_at=seen_at)
        episodes = Episodes(report=report, going_on={condition.key: stands})
        return self.manager.follow(episodes, self.manager.active(report.origin), Deadline.after(20))

    def episodes(self, report: MonitorReport) -> Episodes:
        """What goes on after a report: what it names, and what it could not see."""
        named = {condition.key: condition for condition in report.conditions}
        self._conditions |= named
        hidden = []
        if report.looked_at is not None:
            keys = [alert.event.condition_key for alert in self.stores.alerts.active_of(report.origin)]
            hidden = [
                condition
                for key, condition in self._conditions.items()
                if key in keys and key not in named and condition.resource_id not in self.deleted
                if not report.has_looked_at(condition.resource_id)
            ]
        episodes = [
            Episode(condition=condition, sight=sight, seen_at=report.at)
            for sight, conditions in ((Sight.SEEN, named.values()), (Sight.HIDDEN, hidden))
            for condition in conditions
        ]
        return Episodes(report=report, going_on={episode.condition.key: episode for episode in episodes})

    # what is stored

    def alerts(self) -> list[Alert]:
        """All alerts, the oldest first."""
        return list(self.stores.alerts.all())[::-1]

    def alert(self) -> Alert:
        return self.alerts()[-1]

    def active(self) -> list[Alert]:
        return [alert for alert in self.alerts() if alert.is_active]

    def change(self, alert: Alert) -> Alert:
        """Store an alert that was changed: what an operator does."""
        return self.stores.alerts.save_alone(alert)

    def rows(self, kind: MessageKind | None = None) -> list[Notification]:
        """All notifications, or those of one kind, the oldest first."""
        return [row for row in list(self.stores.notifications.all())[::-1] if kind in (None, row.kind)]

    def firing(self) -> list[Notification]:
        return self.rows(MessageKind.FIRING)

    def recoveries(self) -> list[Notification]:
        return self.rows(MessageKind.RESOLVED)

    def settle(self, status: NotificationStatus = NotificationStatus.DELIVERED) -> None:
        """What a worker does: every open notification ends so."""
        for row in self.rows():
            if row.status.is_open:
                self.stores.notifications.save_alone(replace(row, status=status))


def warning(condition: Condition) -> Condition:
    return replace(condition, severity=Severity.WARNING)


def _resources() -> Iterator[tuple[Documents[Any], Any]]:
    times = {"created_at": START_TIME, "updated_at": START_TIME}
    address = DatabaseAddress(
        provider=DatabaseProvider.POSTGRESQL, host="db.example.com", port=5432, database_name="shop", username="u"
    )

    def system(system_id: str, name: str) -> dict[str, Any]:
        credentials = Credentials(id=id_from("secret", system_id))
        return dict(
            id=system_id, name=name, credentials=credentials, description=None, environment=None, address=address,
            **times,
        )  # fmt: skip

    for source_id, name in ((SOURCE, "shop"), (OTHER_SOURCE, "other shop")):
        yield Sources(), Source(**system(source_id, name))
    for destination_id, name in ((DESTINATION, "warehouse"), (OTHER_DESTINATION, "other warehouse")):
        yield Destinations(), Destination(**system(destination_id, name))
    yield ConnectClusters(), ConnectCluster(
        id=CLUSTER, name="connect", credentials=Credentials(id=id_from("secret", CLUSTER)),
        address=ConnectAddress(base_url="http://connect.example.com:8083"), stream_cluster_id="stream", **times,
    )  # fmt: skip
    for pipeline_id, source_id, name in ((PIPELINE, SOURCE, "orders"), (OTHER_PIPELINE, OTHER_SOURCE, "other orders")):
        yield Pipelines(), make_pipeline(
            id=pipeline_id, name=name, source_id=source_id, stream_cluster_id="stream", connect_cluster_id=CLUSTER,
            capture=Capture(topic_prefix=name, tables=()), **times,
        )  # fmt: skip
    yield Deliveries(), Delivery(
        id=DELIVERY, name="orders to warehouse", destination_id=DESTINATION, pipeline_id=PIPELINE,
        connect_cluster_id=CLUSTER, writing=TableWriting(mappings=()), **times,
    )  # fmt: skip
