"""New credentials for what is registered (wire contract, section 9)."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from chalicelib.api.contract.common import ErrorOutput, Input, Output, SecretText, secrets_of
from chalicelib.api.contract.connections import UsedByOutput
from chalicelib.api.contract.databases import DatabaseCredentials, TestOutput
from chalicelib.api.contract.kafka_credentials import KafkaCredentials
from chalicelib.api.contract.registered import PasswordCredentials
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.kafka_sign_in import with_sign_in
from chalicelib.errors import Invalid
from chalicelib.kit.masking import Secret
from chalicelib.services.rotation import RotationResult


class RotationQuery(Input):
    """Whether credentials that do not work are stored."""

    force: bool = Field(
        default=False, description="Store the credentials although the test fails, for a server that is away now."
    )


class SourceRotationBody(Input):
    """New credentials of a source."""

    credentials: DatabaseCredentials = Field(description="The new secrets; those that are left out stay.")

    def secrets_for(self, _address: Any) -> Mapping[str, Secret | None]:
        return self.credentials.to_secrets()


class SystemCredentials(DatabaseCredentials):
    """The secrets of a database or of an object store. They are written and never shown."""

    access_key_id: SecretText | None = Field(default=None, description="Of an object store.")
    secret_access_key: SecretText | None = Field(default=None, description="Of an object store, with its key id.")
    session_token: SecretText | None = Field(default=None, description="Of a temporary key of an object store.")


class SystemRotationBody(SourceRotationBody):
    """New credentials of a destination or a connection: a database's or an object store's, as its provider is."""

    credentials: SystemCredentials = Field(description="The new secrets; those that are left out stay.")


class ConnectClusterRotationBody(Input):
    """New credentials of a Connect cluster."""

    credentials: PasswordCredentials = Field(description="The new password of Connect's REST interface.")

    def secrets_for(self, _address: Any) -> Mapping[str, Secret | None]:
        return secrets_of(self.credentials)


class StreamClusterRotationBody(Input):
    """New credentials of a stream cluster."""

    credentials: KafkaCredentials = Field(description="The new secrets; those that are left out stay.")

    def secrets_for(self, address: KafkaAddress) -> Mapping[str, Secret | None]:
        """Raises Invalid for a secret that the protocol or the mechanism has no use for."""
        try:
            self.credentials.require_use(address.security_protocol, address.sasl_mechanism)
        except ValidationError as error:
            (fault,) = error.errors(include_url=False, include_context=False, include_input=False)
            message = "The protocol or the mechanism of this cluster has no use for this secret. Leave it out."
            raise Invalid.at(
                "body", "credentials", str(fault["loc"][0]), type_=fault["type"], message=message
            ) from None
        return with_sign_in(address, secrets_of(self.credentials))


class RotatedConnectorOutput(Output):
    """A pipeline or a delivery whose connector uses the credentials."""

    resource: UsedByOutput
    result: RotationResult = Field(
        description="`updated`: the connector has them. `outdated`: it runs with the old ones; `error` says why. "
        "`failed`: it could not be changed."
    )
    error: ErrorOutput | None


class RotationOutput(Output):
    """The test of the new credentials, which are stored, and at most 100 connectors that use them."""

    test: TestOutput
    connectors: list[RotatedConnectorOutput]
