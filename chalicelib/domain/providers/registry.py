"""Which providers there are: the one dispatch by provider."""

from collections.abc import Mapping
from typing import Any

from chalicelib.domain.connection import SystemProvider
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.object_store import ObjectStoreProvider
from chalicelib.domain.property_options import TARGET_OPTIONS
from chalicelib.domain.providers.contract import (
    CaptureProvider,
    DatabaseDefaults,
    DatabaseTarget,
    ObjectStoreTarget,
    TargetProvider,
)
from chalicelib.domain.providers.mysql import defaults as mysql
from chalicelib.domain.providers.mysql.capture_provider import MySQLCapture
from chalicelib.domain.providers.mysql.target_provider import MySQLTarget
from chalicelib.domain.providers.object_store.properties import PROPERTY_OPTIONS as FILE_OPTIONS
from chalicelib.domain.providers.object_store.target_provider import FileTarget
from chalicelib.domain.providers.postgresql import defaults as postgresql
from chalicelib.domain.providers.postgresql.capture_provider import PostgreSQLCapture
from chalicelib.domain.providers.postgresql.target_provider import PostgreSQLTarget

_CAPTURE: Mapping[DatabaseProvider, CaptureProvider] = {
    DatabaseProvider.POSTGRESQL: PostgreSQLCapture(),
    DatabaseProvider.MYSQL: MySQLCapture(),
}
_DATABASE_TARGETS: Mapping[DatabaseProvider, DatabaseTarget] = {
    DatabaseProvider.POSTGRESQL: PostgreSQLTarget(),
    DatabaseProvider.MYSQL: MySQLTarget(),
}
_OBJECT_STORE_TARGETS: Mapping[ObjectStoreProvider, ObjectStoreTarget] = dict.fromkeys(
    ObjectStoreProvider, FileTarget()
)
_TARGETS: Mapping[Any, TargetProvider[Any, Any]] = {**_DATABASE_TARGETS, **_OBJECT_STORE_TARGETS}
_DEFAULTS: Mapping[DatabaseProvider, DatabaseDefaults] = {
    DatabaseProvider.POSTGRESQL: postgresql.DEFAULTS,
    DatabaseProvider.MYSQL: mysql.DEFAULTS,
}


def capture_provider(provider: DatabaseProvider) -> CaptureProvider:
    return _CAPTURE[provider]


def property_option(key: str) -> str | None:
    """The field of a body that sets what this property of a connector would set; None for an unknown property."""
    tables = (*(provider.property_options for provider in _CAPTURE.values()), TARGET_OPTIONS, FILE_OPTIONS)
    return next((table[key] for table in tables if key in table), None)


def target_provider(provider: SystemProvider) -> TargetProvider[Any, Any]:
    """It takes the address and the writing of its own kind of destination only."""
    return _TARGETS[provider]


def database_defaults(provider: DatabaseProvider) -> DatabaseDefaults:
    return _DEFAULTS[provider]
