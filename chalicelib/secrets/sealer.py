"""Sealing of one text under one name: what rows may hold of answers that were shown once."""

from chalicelib.domain.credentials import SealedCredentials, SealedSecret
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import utc_now
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope

_FIELD = "text"


class Sealer:
    """An envelope around a single text. The name is part of what it is bound to."""

    def __init__(self, envelope: Envelope) -> None:
        self._envelope = envelope

    def seal(self, name: str, text: Secret) -> str:
        """The text, sealed, as text."""
        return adapter(SealedSecret).dump_json(self._envelope.seal(name, _FIELD, 1, text)).decode()

    def open(self, name: str, sealed: str) -> Secret:
        """The plain text. Raises StoreUnavailable when it was sealed under another name or key."""
        holder = SealedCredentials(
            id=name,
            resource_type="text",
            resource_id=name,
            sealed={_FIELD: adapter(SealedSecret).validate_json(sealed)},
            created_at=utc_now(),
        )
        return self._envelope.open(holder, _FIELD)
