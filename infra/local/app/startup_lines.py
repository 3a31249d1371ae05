"""The machine-readable lines with which a run says that it serves."""

from infra.local.app.addresses import StackAddresses


def lines(url: str, email: str, password: str | None, addresses: StackAddresses) -> list[str]:
    """`NAME=value`, in the order that programs may rely on; the password only when this run is to tell it."""
    told = [f"HEADGATE_URL={url}", f"HEADGATE_ADMIN_EMAIL={email}"]
    if password is not None:
        told.append(f"HEADGATE_ADMIN_PASSWORD={password}")
    return [
        *told,
        f"HEADGATE_KAFKA={addresses.kafka}",
        f"HEADGATE_CONNECT={addresses.connect}",
        f"HEADGATE_POSTGRES={addresses.postgres}",
        "HEADGATE_READY",
    ]
