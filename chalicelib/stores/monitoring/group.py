"""The stores of what monitors find."""

from dataclasses import dataclass, field

from chalicelib.stores.counts import Counts
from chalicelib.stores.monitoring.findings import CaptureFindings
from chalicelib.stores.monitoring.histories import HistoryStore
from chalicelib.stores.monitoring.incidents import Incidents
from chalicelib.stores.monitoring.progress import ProgressStore
from chalicelib.stores.monitoring.source_states import SourceStates
from chalicelib.stores.monitoring.target_tables import TargetLossStore, TargetTables
from chalicelib.stores.monitoring.unreadable_notes import UnreadableNotes


@dataclass(frozen=True, slots=True)
class MonitoringStores:
    """What monitors have measured, and the incidents."""

    counts: Counts = field(default_factory=Counts)
    findings: CaptureFindings = field(default_factory=CaptureFindings)
    histories: HistoryStore = field(default_factory=HistoryStore)
    incidents: Incidents = field(default_factory=Incidents)
    progress: ProgressStore = field(default_factory=ProgressStore)
    source_states: SourceStates = field(default_factory=SourceStates)
    target_losses: TargetLossStore = field(default_factory=TargetLossStore)
    target_tables: TargetTables = field(default_factory=TargetTables)
    unreadable_notes: UnreadableNotes = field(default_factory=UnreadableNotes)
