"""Whether a MySQL server can be captured from: every fault that a read-only connection can foresee."""

from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import MySQLServerFacts
from chalicelib.domain.providers.mysql.readiness import server
from chalicelib.domain.readiness import CONNECTION, Check

CHECKS: tuple[Check[MySQLServerFacts, MySQLCapturePlan | None], ...] = (
    CONNECTION,
    server.log_bin,
)
"""Every check, in the order in which they are shown."""
