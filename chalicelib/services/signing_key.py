"""The key that cursors are signed with: the same in every process of an installation."""

import base64
import os
from datetime import datetime

from chalicelib.domain.credentials import SealedCredentials, SecretBinding, SecretClass
from chalicelib.errors import WriteConflict
from chalicelib.kit.ids import id_from
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.tokens import derived_key
from chalicelib.stores.secrets import SealedSecrets
from chalicelib.stores.transaction import Transaction

_FIELD = "signing_key"
_ID = id_from("installation", _FIELD)
_BINDING = SecretBinding(secret_class=SecretClass.SIGNING, id=_ID, field=_FIELD)


def signing_key(master_key: Secret | None, store: SealedSecrets, envelope: Envelope, now: datetime) -> bytes:
    """Derived from the master key where there is one; otherwise random, made once and stored sealed."""
    if master_key:
        return derived_key(master_key, "signing")
    stored = store.find(_ID) or _make(store, envelope, now)
    return base64.b64decode(envelope.open(_BINDING, stored.sealed[_FIELD]).reveal())


def _make(store: SealedSecrets, envelope: Envelope, now: datetime) -> SealedCredentials:
    fresh = Secret(base64.b64encode(os.urandom(32)).decode())
    made = SealedCredentials(
        id=_ID,
        resource_type="installation",
        resource_id=_ID,
        sealed={_FIELD: envelope.seal(_BINDING, fresh)},
        created_at=now,
    )
    transaction = Transaction()
    store.put_new(transaction, made)
    try:
        transaction.commit()
    except WriteConflict:
        return store.get(_ID)  # another process was faster
    return made
