"""What the bodies of all registered things share."""

from typing import Any

from chalicelib.api.contract.common import CredentialsOutput, FailureOutput, Input, SecretText
from chalicelib.domain.registered import Registered


class PasswordCredentials(Input):
    """A password, written and never shown."""

    password: SecretText | None = None


def registered_fields(registered: Registered) -> dict[str, Any]:
    """The fields that every registered thing shows in the same way."""
    return {
        "id": registered.id,
        "name": registered.name,
        "credentials": CredentialsOutput.of(registered.credentials),
        "status": registered.health.status,
        "last_error": FailureOutput.of(registered.health.last_error),
        "version": registered.version,
        "created_at": registered.created_at,
        "updated_at": registered.updated_at,
    }
