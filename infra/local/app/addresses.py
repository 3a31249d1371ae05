"""Where the servers of a running stack answer."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class StackAddresses:
    """All on 127.0.0.1.

    `kafka` is `host:port`, `connect` an `http://` URL, `postgres` the URL of the superuser with its password,
    and so is `mysql`, which is None unless it was asked for.
    `dynamodb` and `sqs` are `http://` URLs, None in the sandbox, which keeps both in the runner's own process.
    """

    kafka: str
    connect: str
    postgres: str
    mysql: str | None = None
    dynamodb: str | None = None
    sqs: str | None = None
