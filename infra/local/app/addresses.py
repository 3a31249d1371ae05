"""Where the servers of a running stack answer."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class StackAddresses:
    """All on 127.0.0.1.

    `kafka` is `host:port`, `connect` an `http://` URL, `postgres` the URL of the superuser with its password.
    `dynamodb` and `sqs` are `http://` URLs, None in the sandbox, which keeps both in the runner's own process.
    """

    kafka: str
    connect: str
    postgres: str
    dynamodb: str | None = None
    sqs: str | None = None
