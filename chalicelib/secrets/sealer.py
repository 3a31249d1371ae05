"""Encryption of one text under one name, for answers with secrets that a repeated request gets again."""

from chalicelib.domain.credentials import SealedCredentials, SealedSecret
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import utc_now
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope

_FIELD = "text"


class Sealer:
    """Seals single texts in an `Envelope`. A text that was sealed under another name does not open."""

    def __init__(self, envelope: Envelope) -> None:
        self._envelope = envelope

    def seal(self, name: str, text: Secret) -> str:
        """The sealed text, as JSON."""
        return adapter(SealedSecret).dump_json(self._envelope.seal(name, _FIELD, 1, text)).decode()

    def open(self, name: str, sealed: str) -> Secret:
        """The plain text. Raises StoreUnavailable when it was sealed under another name or key."""
        row = SealedCredentials(
            id=name,
            resource_type="text",
            resource_id=name,
            sealed={_FIELD: adapter(SealedSecret).validate_json(sealed)},
            created_at=utc_now(),
        )
        return self._envelope.open(row, _FIELD)
