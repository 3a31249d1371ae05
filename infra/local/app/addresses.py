"""Where the servers of a running stack answer."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class StackAddresses:
    """All on 127.0.0.1.

    `kafka` is `host:port`, `connect` an `http://` URL, `postgres` the URL of the superuser with its password,
    and so is `mysql`; `s3` is the `http://` URL of a bucket with key and secret. Both are None unless asked for.
    `dynamodb` and `sqs` are `http://` URLs, None in the sandbox, which keeps both in the runner's own process.
    """

    kafka: str
    connect: str
    postgres: str
    mysql: str | None = None
    s3: str | None = None
    dynamodb: str | None = None
    sqs: str | None = None
