"""Builds what the audit trail consists of."""

from chalicelib.kit.clock import Clock
from chalicelib.secrets.envelope import Envelope
from chalicelib.services.audit import AuditTrail
from chalicelib.services.audit_integrity.anchors import AuditAnchors
from chalicelib.services.audit_integrity.keys import AuditKeys
from chalicelib.services.audit_integrity.refusals import RefusalBound
from chalicelib.services.audit_integrity.verification import AuditVerifier
from chalicelib.settings import Settings
from chalicelib.wiring.clients import audit_mac_of
from chalicelib.wiring.stores import Stores


class Auditing:
    """The audit trail, its keys, its anchors and its verification."""

    def __init__(self, config: Settings, *, stores: Stores, envelope: Envelope, clock: Clock) -> None:
        store = stores.audit
        self.keys = AuditKeys(store=stores.secrets, envelope=envelope, is_empty=store.is_empty, clock=clock)
        refusals = RefusalBound(counts=stores.refusals, clock=clock)
        self.trail = AuditTrail(store=store, refusals=refusals, clock=clock)
        mac = audit_mac_of(config, self.keys.anchor)
        self.anchors = AuditAnchors(chain=store.chain, store=stores.audit_anchors, mac=mac, clock=clock)
        self.verifier = AuditVerifier(audit=store, anchors=self.anchors, clock=clock)
