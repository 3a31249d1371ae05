"""Builds what the audit trail consists of."""

from chalicelib.kit.clock import Clock
from chalicelib.secrets.envelope import Envelope
from chalicelib.services.audit.anchors import Anchors
from chalicelib.services.audit.refusals import RefusalBound
from chalicelib.services.audit.restores import Restores
from chalicelib.services.audit.signer import AuditSigner
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.audit.verification import AuditVerifier
from chalicelib.services.audit.watch import AuditWatch, Publish
from chalicelib.services.installation_keys import ANCHOR_KEY, installation_key
from chalicelib.settings import Settings
from chalicelib.stores.groups import Stores
from chalicelib.wiring.clients import anchor_copy_of, audit_mac_of


class Auditing:
    """The audit trail, its signer and its verification."""

    def __init__(self, config: Settings, *, stores: Stores, envelope: Envelope, clock: Clock) -> None:
        refusals = RefusalBound(counts=stores.audit.refusals, clock=clock)
        self._clock, self._chain = clock, stores.audit.chain
        self.trail = AuditTrail(
            store=stores.audit.records, refusals=refusals, clock=clock, keep_for=config.audit_retention
        )
        secrets = stores.resources.secrets
        mac = audit_mac_of(config, lambda: installation_key(ANCHOR_KEY, secrets, envelope, clock()))
        anchors = Anchors(chain=stores.audit.chain, mac=mac, copy=anchor_copy_of(config))
        self.restores = Restores(audit=self.trail, anchors=anchors, clock=clock)
        self.signer = AuditSigner(stores=stores.audit, anchors=anchors, restores=self.restores, clock=clock)
        self.verifier = AuditVerifier(stores=stores.audit, anchors=anchors, clock=clock)

    def watch(self, publish: Publish) -> AuditWatch:
        """What the schedule runs. `publish` takes its reports."""
        return AuditWatch(
            signer=self.signer, verifier=self.verifier, chain=self._chain, publish=publish, clock=self._clock
        )
