"""The keys of the audit trail: random, made once and stored sealed, so that they outlive the key that seals them."""

import base64
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from chalicelib.domain.credentials import SealedCredentials, SecretBinding, SecretClass
from chalicelib.domain.integrity.chain import ChainKey
from chalicelib.errors import SecretMismatch, WriteConflict
from chalicelib.kit.clock import Clock, rfc3339
from chalicelib.kit.ids import id_from
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.stores.secrets import SealedSecrets
from chalicelib.stores.transaction import Transaction

_CHAIN, _ANCHOR = "audit_chain_key", "audit_anchor_key"
_UPGRADE = timedelta(minutes=15)
"""Functions of a release without chains have ended so long after the first one of this release has begun."""


@dataclass(slots=True, kw_only=True)
class AuditKeys:
    """Opens the keys, and makes those that do not exist yet. `is_empty` says whether there are no records yet."""

    store: SealedSecrets
    envelope: Envelope
    is_empty: Callable[[], bool]
    clock: Clock
    _opened: dict[str, str] = field(default_factory=dict)

    def chain(self) -> ChainKey:
        """The key of the chains, which every function that writes records has."""
        found = json.loads(self._secret(_CHAIN, self._new_chain))
        since = datetime.fromisoformat(found["since"]) if found["since"] else None
        return ChainKey(key=base64.b64decode(found["key"]), since=since)

    def anchor(self) -> bytes:
        """The key of anchors where there is no key service to sign them."""
        return base64.b64decode(self._secret(_ANCHOR, _random))

    def _new_chain(self) -> str:
        since = None if self.is_empty() else rfc3339(self.clock() + _UPGRADE)
        return json.dumps({"key": _random(), "since": since})

    def _secret(self, name: str, make: Callable[[], str]) -> str:
        if name not in self._opened:
            found = self.store.find(BINDINGS[name].id) or self._make(name, make())
            if name not in found.sealed:
                raise SecretMismatch("The row of a key of the audit trail was changed by others.")
            self._opened[name] = self.envelope.open(BINDINGS[name], found.sealed[name]).reveal()
        return self._opened[name]

    def _make(self, name: str, secret: str) -> SealedCredentials:
        made = SealedCredentials(
            id=BINDINGS[name].id,
            resource_type="installation",
            resource_id=BINDINGS[name].id,
            sealed={name: self.envelope.seal(BINDINGS[name], Secret(secret))},
            created_at=self.clock(),
        )
        transaction = Transaction()
        self.store.put_new(transaction, made)
        try:
            transaction.commit()
        except WriteConflict:
            return self.store.get(made.id)  # another process was faster
        return made


def _random() -> str:
    return base64.b64encode(os.urandom(32)).decode()


def _binding(name: str) -> SecretBinding:
    return SecretBinding(secret_class=SecretClass.AUDIT, id=id_from("installation", name), field=name)


BINDINGS = {name: _binding(name) for name in (_CHAIN, _ANCHOR)}
"""What the stored keys are bound to, by their fields."""
