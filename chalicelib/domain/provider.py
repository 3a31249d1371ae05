"""The kinds of systems that a pipeline may read from or a delivery may write to."""

from enum import StrEnum


class DatabaseProvider(StrEnum):
    """Database kinds that this version captures from and delivers to."""

    POSTGRESQL = "postgresql"


DEFAULT_PORTS = {DatabaseProvider.POSTGRESQL: 5432}
