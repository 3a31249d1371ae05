"""Whether a PostgreSQL server can be captured from: every fault that a read-only connection can foresee."""

from datetime import datetime

from chalicelib.domain.providers.postgresql.facts import ServerFacts
from chalicelib.domain.providers.postgresql.readiness.identity import IDENTITY_CHECKS
from chalicelib.domain.providers.postgresql.readiness.log import LOG_CHECKS
from chalicelib.domain.providers.postgresql.readiness.publication import PUBLICATION_CHECKS
from chalicelib.domain.providers.postgresql.readiness.server import SERVER_CHECKS
from chalicelib.domain.providers.postgresql.readiness.tables import TABLE_CHECKS
from chalicelib.domain.providers.postgresql.replication import CapturePlan
from chalicelib.domain.readiness import CONNECTION, Check, ReadinessReport, judge, unreachable
from chalicelib.errors import HeadgateError

CHECKS: tuple[Check[ServerFacts, CapturePlan], ...] = (
    CONNECTION,
    *SERVER_CHECKS,
    *LOG_CHECKS,
    *TABLE_CHECKS,
    *IDENTITY_CHECKS,
    *PUBLICATION_CHECKS,
)
"""Every check, in the order in which they are shown."""


def judge_readiness(facts: ServerFacts, plan: CapturePlan | None, now: datetime) -> ReadinessReport:
    return judge(CHECKS, facts, plan, now)


def unreachable_readiness(error: HeadgateError, now: datetime) -> ReadinessReport:
    return unreachable(CHECKS, error, now)
