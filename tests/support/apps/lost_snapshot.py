"""The loss of what ticks remember."""

from chalicelib.stores.connectors.observations import ObservationRow
from tests.support.apps.in_process_app import InProcessApp


def lose_snapshot(app: InProcessApp, cluster_id: str) -> None:
    """What the last tick of a Connect cluster has stored is there only in part, and its process has died."""
    for row in ObservationRow.query(cluster_id, ObservationRow.part.startswith("body/")):
        row.delete()
    app.restart()
