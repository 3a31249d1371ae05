"""What the bodies of all registered resources share."""

from typing import Annotated

from pydantic import AliasPath, BeforeValidator, Field

from chalicelib.api.contract.common import CredentialsOutput, FailureOutput, Input, Output, SecretText, Timestamp
from chalicelib.api.contract.labels import ShownLabels
from chalicelib.domain.health import HealthStatus


class PasswordCredentials(Input):
    """A password, written and never shown."""

    password: SecretText | None = None


class RegisteredOutput(Output):
    """A registered resource and its health."""

    id: str
    name: str
    labels: ShownLabels
    credentials: Annotated[CredentialsOutput, BeforeValidator(CredentialsOutput.of)]
    status: HealthStatus = Field(validation_alias=AliasPath("health", "status"))
    last_error: FailureOutput | None = Field(validation_alias=AliasPath("health", "last_error"))
    version: int
    created_at: Timestamp
    updated_at: Timestamp
