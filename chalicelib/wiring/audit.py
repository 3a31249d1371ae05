"""Builds what the audit trail consists of."""

from chalicelib.kit.clock import Clock
from chalicelib.secrets.envelope import Envelope
from chalicelib.services.audit.refusals import RefusalBound
from chalicelib.services.audit.signer import AuditSigner
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.audit.verification import AuditVerifier
from chalicelib.services.installation_keys import ANCHOR_KEY, installation_key
from chalicelib.settings import Settings
from chalicelib.wiring.clients import audit_mac_of
from chalicelib.wiring.stores import Stores


class Auditing:
    """The audit trail, its signer and its verification."""

    def __init__(self, config: Settings, *, stores: Stores, envelope: Envelope, clock: Clock) -> None:
        audit, chain = stores.audit, stores.audit_chain
        refusals = RefusalBound(counts=stores.refusals, clock=clock)
        self.trail = AuditTrail(store=audit, refusals=refusals, clock=clock)
        mac = audit_mac_of(config, lambda: installation_key(ANCHOR_KEY, stores.secrets, envelope, clock()))
        self.signer = AuditSigner(audit=audit, chain=chain, mac=mac, clock=clock)
        self.verifier = AuditVerifier(audit=audit, chain=chain, signer=self.signer, clock=clock)
