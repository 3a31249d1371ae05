"""What a run prints when it serves: machine-readable lines, and one for people."""

from infra.local.app.addresses import StackAddresses


def lines(url: str, email: str, password: str | None, addresses: StackAddresses) -> list[str]:
    """`NAME=value`, in the order that programs may rely on; without a password line when it is None."""
    return [
        f"HEADGATE_URL={url}",
        f"HEADGATE_ADMIN_EMAIL={email}",
        *([f"HEADGATE_ADMIN_PASSWORD={password}"] if password is not None else []),
        f"HEADGATE_KAFKA={addresses.kafka}",
        f"HEADGATE_CONNECT={addresses.connect}",
        f"HEADGATE_POSTGRES={addresses.postgres}",
        *([f"HEADGATE_MYSQL={addresses.mysql}"] if addresses.mysql else []),
        *([f"HEADGATE_S3={addresses.s3}"] if addresses.s3 else []),
        "HEADGATE_READY",
    ]


def for_people(url: str) -> str:
    """Where a person begins."""
    return f"the console is at {url}/console: open it in a browser and sign in"
