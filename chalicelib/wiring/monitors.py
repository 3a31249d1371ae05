"""Builds what looks at servers again and again, and reports to incidents and alerts."""

from collections.abc import Callable, Sequence

from chalicelib.clients.queue import DESTINATION_CHECKS, SOURCE_CHECKS, TICKS, Queues
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.alerts.bus import EventBus
from chalicelib.services.connectors.cause_lookup import CauseLookup
from chalicelib.services.connectors.tick_ages import TickAges
from chalicelib.services.monitors.destination_monitor import DestinationMonitor
from chalicelib.services.monitors.history_recorder import HistoryRecorder
from chalicelib.services.monitors.own_state import OwnState
from chalicelib.services.monitors.progress_reader import ProgressReader
from chalicelib.services.monitors.reports import MonitorReports, Send
from chalicelib.services.monitors.source_monitor import SourceMonitor
from chalicelib.services.monitors.target_looks import TargetLooks
from chalicelib.services.monitors.tick import Tick
from chalicelib.services.monitors.unreadable_rows import UnreadableRows
from chalicelib.stores.groups import Stores
from chalicelib.wiring.connectors import Connectors
from chalicelib.wiring.resources import Resources


class Monitors:
    """Ticks of Connect clusters, looks at sources and destinations."""

    def __init__(
        self,
        *,
        stores: Stores,
        resources: Resources,
        connectors: Connectors,
        bus: EventBus,
        queues: Queues,
        clock: Clock,
        sleep: Callable[[float], None],
    ) -> None:
        histories = HistoryRecorder(store=stores.monitoring.histories)
        self.reports = MonitorReports(
            bus=bus, alerts=stores.alerts.alerts, emitters=stores.resources.by_type(), clock=clock
        )
        self.unreadable_rows = UnreadableRows(
            store=stores.monitoring.unreadable_notes,
            readers={store.noun: store for store in stores.read_by_the_schedule},
            reports=self.reports,
            clock=clock,
        )
        self.source_monitor = SourceMonitor(
            resources=stores.resources,
            store=stores.monitoring.source_states,
            histories=histories,
            checks=connectors.captures,
            clients=resources.clients,
            reports=self.reports,
            clock=clock,
            send=_sender(queues, SOURCE_CHECKS, "source_id"),
        )
        self.destination_monitor = DestinationMonitor(
            resources=stores.resources,
            checks=resources.system_checks,
            targets=TargetLooks(
                resources=stores.resources,
                monitoring=stores.monitoring,
                incidents=resources.incidents,
                clients=resources.clients,
            ),
            reports=self.reports,
            clock=clock,
            sleep=sleep,
            send=_sender(queues, DESTINATION_CHECKS, "destination_id"),
        )
        self.progress_reader = ProgressReader(
            streams=stores.resources.streams,
            owners=connectors.owners,
            store=stores.monitoring.progress,
            histories=histories,
            targets=stores.monitoring.target_losses,
            clients=resources.clients,
        )
        self.own_state = OwnState(
            resources=stores.resources,
            tick_ages=TickAges.of(stores, clock),
            counts=stores.monitoring.counts,
            reports=self.reports,
            clock=clock,
        )
        self.tick = Tick(
            resources=stores.resources,
            stores=stores.connectors,
            timeline=stores.timeline,
            owners=connectors.owners,
            lifecycle=connectors.lifecycle,
            clients=resources.clients,
            incidents=resources.incidents,
            causes=CauseLookup(resources=stores.resources, clients=resources.clients),
            progress=self.progress_reader,
            bus=bus,
            clock=clock,
            send=_sender(queues, TICKS, "cluster_id"),
        )


def _sender(queues: Queues, queue: str, field: str) -> Send:
    """Sends messages of this queue, which name what they are about in this field."""

    def send(messages: Sequence[tuple[str, int]], deadline: Deadline) -> int:
        return queues.send_all_due(queue, [({field: item_id}, delay) for item_id, delay in messages], deadline)

    return send
