"""A copy of the audit trail's last anchor, in memory, and a trail that keeps one."""

from dataclasses import dataclass, field, replace
from typing import Any

from chalicelib.domain.audit.chain import Link
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Deadline
from chalicelib.services.audit.anchors import Anchors
from chalicelib.services.audit.restores import Restores
from chalicelib.services.audit.verification import Verification
from tests.support.apps.in_process_app import InProcessApp
from tests.support.hostile.audit_tampering import StoredTrail


@dataclass
class MemoryCopy:
    """A copy outside of the tables. `fails`: it cannot be written."""

    place: str = "ssm:/headgate/audit-anchor"
    link: Link | None = None
    fails: bool = False

    def read(self) -> Link | None:
        return self.link

    def write(self, link: Link) -> None:
        if self.fails:
            raise StoreUnavailable("The copy of the anchor could not be written.")
        self.link = link


@dataclass
class CopiedTrail:
    """The audit trail of an installation that keeps a copy of its last anchor."""

    app: InProcessApp
    copy: MemoryCopy = field(default_factory=MemoryCopy)

    @property
    def stored(self) -> StoredTrail:
        return StoredTrail(self.app.tables)

    @property
    def restores(self) -> Restores:
        return replace(self.app.services.auditing.restores, anchors=self._anchors)

    def sign(self) -> int:
        signer = self.app.services.auditing.signer
        return replace(signer, anchors=self._anchors, restores=self.restores).sign(Deadline.after(60))

    def verify(self) -> Verification:
        verifier = replace(self.app.services.auditing.verifier, anchors=self._anchors)
        return verifier.verify(after=None, limit=10_000, deadline=Deadline.after(600))

    def restore(self, backup: Any) -> None:
        """The audit tables as they were, and all others as they are."""
        now = self.app.tables.snapshot()
        self.app.tables.restore({**now, **{name: backup[name] for name in ("headgate-audit", "headgate-audit-chain")}})

    @property
    def _anchors(self) -> Anchors:
        return replace(self.app.services.auditing.verifier.anchors, copy=self.copy)
