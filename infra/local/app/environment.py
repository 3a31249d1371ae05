"""The environment variables that a local run sets for Headgate."""

import hashlib
from dataclasses import dataclass, field

from infra.local.app.addresses import StackAddresses
from infra.local.app.first_admin import FirstAdmin

REGION = "us-east-1"


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The master key (32 bytes in base64) and the credential with which Connect asks for secrets."""

    master_key: str = field(repr=False)
    service_credential: str = field(repr=False)


def environment(admin: FirstAdmin, keys: Keys, addresses: StackAddresses) -> dict[str, str]:
    """All variables, by name; endpoints of DynamoDB and SQS only where the stack has its own."""
    endpoints = {
        "AWS_ENDPOINT_URL_DYNAMODB": addresses.dynamodb,
        "AWS_ENDPOINT_URL_SQS": addresses.sqs,
    }
    return {
        "HEADGATE_ADMIN_EMAIL": admin.email,
        "HEADGATE_ADMIN_PASSWORD": admin.password,
        "HEADGATE_ALLOW_LOOPBACK_TARGETS": "true",
        "HEADGATE_MASTER_KEY": keys.master_key,
        "HEADGATE_SERVICE_CREDENTIAL_HASH": hashlib.sha256(keys.service_credential.encode()).hexdigest(),
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        # The local servers check no signature, but the SDK wants to sign. A run must never reach a real account.
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_EC2_METADATA_DISABLED": "true",
        **{name: value for name, value in endpoints.items() if value},
    }
