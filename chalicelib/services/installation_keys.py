"""Keys of the installation: random, made once and stored sealed, the same in every process and for ever."""

import base64
import os
from datetime import datetime

from chalicelib.domain.credentials import SealedCredentials, SecretBinding, SecretClass
from chalicelib.errors import SecretMismatch, WriteConflict
from chalicelib.kit.ids import id_from
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.stores.secrets import SealedSecrets
from chalicelib.stores.transaction import Transaction


def _binding(secret_class: SecretClass, name: str) -> SecretBinding:
    return SecretBinding(secret_class=secret_class, id=id_from("installation", name), field=name)


SIGNING_KEY = _binding(SecretClass.SIGNING, "signing_key")
"""Of the key that signs cursors and digests."""

ANCHOR_KEY = _binding(SecretClass.AUDIT, "audit_anchor_key")
"""Of the key that signs the audit trail where no key service does."""


def installation_key(key: SecretBinding, store: SealedSecrets, envelope: Envelope, now: datetime) -> bytes:
    """The stored key of 32 bytes. It outlives every exchange of the keys that seal it."""
    stored = store.find(key.id) or _make(key, store, envelope, now)
    if key.field not in stored.sealed:
        raise SecretMismatch("The row of a key of the installation was changed by others.")
    return base64.b64decode(envelope.open(key, stored.sealed[key.field]).reveal())


def _make(key: SecretBinding, store: SealedSecrets, envelope: Envelope, now: datetime) -> SealedCredentials:
    sealed = SealedCredentials(
        id=key.id,
        resource_type="installation",
        resource_id=key.id,
        sealed={key.field: envelope.seal(key, Secret(base64.b64encode(os.urandom(32)).decode()))},
        created_at=now,
    )
    try:
        with Transaction() as transaction:
            store.put_new(transaction, sealed)
    except WriteConflict:
        return store.get(key.id)  # another process was faster, and every process has to use the same key
    return sealed
