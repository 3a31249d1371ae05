"""Tracks: the history of each fingerprint. A track is deleted thirty days after its last episode."""

from datetime import datetime

from chalicelib.domain.alerts.track import FORGOTTEN_AFTER, Track
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

AlertTrackRows = document_table("alert-tracks")


class Tracks(Documents[Track]):
    table, entity, noun = AlertTrackRows, Track, "alert_track"

    def expires_at(self, entity: Track) -> datetime | None:
        return entity.ended_at + FORGOTTEN_AFTER if entity.alert_id is None and entity.ended_at else None
