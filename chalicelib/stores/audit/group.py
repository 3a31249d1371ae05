"""The stores of the audit trail."""

from dataclasses import dataclass, field

from chalicelib.stores.accounts.login_tries import RefusalCounts
from chalicelib.stores.audit.chain import AuditChain
from chalicelib.stores.audit.records import Audit


@dataclass(frozen=True, slots=True)
class AuditStores:
    """The audit trail."""

    chain: AuditChain = field(default_factory=AuditChain)
    records: Audit = field(default_factory=Audit)
    refusals: RefusalCounts = field(default_factory=RefusalCounts)
