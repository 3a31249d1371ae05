"""Secrets of the API in AWS Secrets Manager: those that a parameter names, and those that the stack makes."""

from dataclasses import dataclass

from infra.aws.cloudformation import Json, ref, when
from infra.aws.parameters import (
    ADMIN_PASSWORD,
    CLIENT_SECRET,
    HAS_ADMIN_PASSWORD,
    HAS_CLIENT_SECRET,
    MAKES_ADMIN_PASSWORD,
    MAKES_METRICS_TOKEN,
    METRICS_TOKEN,
    Parameter,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSecret:
    """A secret that `parameter` may name.

    `made_as`: the resource that the stack makes under the condition `made_if`. `given_if`: the condition under which
    there is one at all, empty for always.
    """

    parameter: Parameter
    description: str = ""
    made_as: str = ""
    made_if: str = ""
    given_if: str = ""

    def arn(self) -> Json:
        """The ARN, or an empty text."""
        named = ref(self.parameter.name)
        return when(self.made_if, ref(self.made_as), named) if self.made_as else named


GIVEN_SECRETS = (
    GivenSecret(
        parameter=ADMIN_PASSWORD,
        description="The password of Headgate's first Admin.",
        made_as="AdminPassword",
        made_if=MAKES_ADMIN_PASSWORD,
        given_if=HAS_ADMIN_PASSWORD,
    ),
    GivenSecret(
        parameter=METRICS_TOKEN,
        description="The bearer token of Headgate's /metrics.",
        made_as="MetricsToken",
        made_if=MAKES_METRICS_TOKEN,
    ),
    GivenSecret(parameter=CLIENT_SECRET, given_if=HAS_CLIENT_SECRET),
)


def secret_variables() -> Json:
    """The environment variables with their ARNs."""
    return {secret.parameter.variable: secret.arn() for secret in GIVEN_SECRETS}


def secret_arns() -> list[Json]:
    """Those that the API may read. There is always at least one."""
    return [when(secret.given_if, secret.arn()) if secret.given_if else secret.arn() for secret in GIVEN_SECRETS]


def secret_resources() -> Json:
    """Those that the stack makes."""
    return {secret.made_as: _made(secret) for secret in GIVEN_SECRETS if secret.made_as}


def secret_outputs() -> Json:
    return {
        f"{secret.made_as}Secret": {
            "Condition": secret.made_if,
            "Description": f"{secret.description} Read it from AWS Secrets Manager.",
            "Value": ref(secret.made_as),
        }
        for secret in GIVEN_SECRETS
        if secret.made_as
    }


def _made(secret: GivenSecret) -> Json:
    characters = {"PasswordLength": 40, "ExcludePunctuation": True}
    properties = {"Description": secret.description, "GenerateSecretString": characters}
    return {"Type": "AWS::SecretsManager::Secret", "Condition": secret.made_if, "Properties": properties}
