"""Encryption of one text under one name, for answers with secrets that a repeated request gets again."""

from chalicelib.domain.credentials import SealedSecret, SecretBinding, SecretClass
from chalicelib.kit.adapters import adapter
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope


class Sealer:
    """Seals single texts in an `Envelope`. A text that was sealed under another name does not open."""

    def __init__(self, envelope: Envelope) -> None:
        self._envelope = envelope

    def seal(self, name: str, text: Secret) -> str:
        """The sealed text, as JSON."""
        return adapter(SealedSecret).dump_json(self._envelope.seal(_binding(name), text)).decode()

    def open(self, name: str, sealed: str) -> Secret:
        """The plain text. Raises StoreUnavailable when it was sealed under another name or key."""
        return self._envelope.open(_binding(name), adapter(SealedSecret).validate_json(sealed))


def _binding(name: str) -> SecretBinding:
    return SecretBinding(secret_class=SecretClass.ANSWER, id=name, field="text")
