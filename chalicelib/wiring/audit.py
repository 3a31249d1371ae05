"""Builds what the audit trail consists of."""

from chalicelib.kit.clock import Clock
from chalicelib.secrets.envelope import Envelope
from chalicelib.services.audit.refusals import RefusalBound
from chalicelib.services.audit.signer import AuditSigner
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.audit.verification import AuditVerifier
from chalicelib.services.installation_keys import ANCHOR_KEY, installation_key
from chalicelib.settings import Settings
from chalicelib.stores.groups import Stores
from chalicelib.wiring.clients import audit_mac_of


class Auditing:
    """The audit trail, its signer and its verification."""

    def __init__(self, config: Settings, *, stores: Stores, envelope: Envelope, clock: Clock) -> None:
        refusals = RefusalBound(counts=stores.audit.refusals, clock=clock)
        self.trail = AuditTrail(store=stores.audit.records, refusals=refusals, clock=clock)
        secrets = stores.resources.secrets
        mac = audit_mac_of(config, lambda: installation_key(ANCHOR_KEY, secrets, envelope, clock()))
        self.signer = AuditSigner(stores=stores.audit, mac=mac, clock=clock)
        self.verifier = AuditVerifier(stores=stores.audit, signer=self.signer, clock=clock)
