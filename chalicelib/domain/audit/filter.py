"""Which records of the audit trail a list shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.audit.record import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Records from `since` on and before `until`, by this actor (an id or an e-mail), with these values; None: any."""

    since: datetime | None = None
    until: datetime | None = None
    actor: str | None = None
    action: str | None = None
    correlation_id: str | None = None
    outcome: Outcome | None = None

    @property
    def selects(self) -> bool:
        """Whether it asks for more than a time."""
        return any((self.actor, self.action, self.correlation_id, self.outcome))

    def accepts(self, fields: Mapping[str, Any]) -> bool:
        """Whether a record with these fields (see `AuditRecord`) has the values. Its time is not looked at."""
        by = {fields.get("actor_id"), str(fields.get("actor_email")).casefold()}
        return (
            (self.actor is None or self.actor in by or self.actor.casefold() in by)
            and self.action in (None, fields.get("action"))
            and self.correlation_id in (None, fields.get("correlation_id"))
            and self.outcome in (None, fields.get("outcome"))
        )


ALL_RECORDS = AuditFilter()
