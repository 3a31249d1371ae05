"""The key that cursors and digests are signed with: the same in every process of an installation, and for ever."""

import base64
import os
from collections.abc import Sequence
from datetime import datetime

from chalicelib.domain.credentials import SealedCredentials, SecretBinding, SecretClass
from chalicelib.errors import SecretMismatch, WriteConflict
from chalicelib.kit.ids import id_from
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.tokens import derived_key
from chalicelib.stores.secrets import SealedSecrets
from chalicelib.stores.transaction import Transaction

_FIELD = "signing_key"
BINDING = SecretBinding(secret_class=SecretClass.SIGNING, id=id_from("installation", _FIELD), field=_FIELD)
"""What the stored key is bound to."""


def signing_key(master_keys: Sequence[Secret], store: SealedSecrets, envelope: Envelope, now: datetime) -> bytes:
    """The stored key. It is made once, so that cursors and digests outlive every exchange of the keys that seal it.

    `master_keys` are those of the settings: earlier releases derived the signing key from the oldest of them.
    """
    stored = store.find(BINDING.id) or _make(_first_value(master_keys), store, envelope, now)
    if _FIELD not in stored.sealed:
        raise SecretMismatch("The row of the signing key was changed by others.")
    return base64.b64decode(envelope.open(BINDING, stored.sealed[_FIELD]).reveal())


def _first_value(master_keys: Sequence[Secret]) -> bytes:
    return derived_key(master_keys[-1], "signing") if master_keys else os.urandom(32)


def _make(value: bytes, store: SealedSecrets, envelope: Envelope, now: datetime) -> SealedCredentials:
    made = SealedCredentials(
        id=BINDING.id,
        resource_type="installation",
        resource_id=BINDING.id,
        sealed={_FIELD: envelope.seal(BINDING, Secret(base64.b64encode(value).decode()))},
        created_at=now,
    )
    transaction = Transaction()
    store.put_new(transaction, made)
    try:
        transaction.commit()
    except WriteConflict:
        return store.get(BINDING.id)  # another process was faster
    return made
