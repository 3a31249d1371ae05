"""Which providers there are: the one dispatch by `DatabaseProvider`."""

from collections.abc import Mapping

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.contract import CaptureProvider, TargetProvider
from chalicelib.domain.providers.postgresql.capture_provider import PostgreSQLCapture
from chalicelib.domain.providers.postgresql.target_provider import PostgreSQLTarget

_CAPTURE: Mapping[DatabaseProvider, CaptureProvider] = {DatabaseProvider.POSTGRESQL: PostgreSQLCapture()}
_TARGET: Mapping[DatabaseProvider, TargetProvider] = {DatabaseProvider.POSTGRESQL: PostgreSQLTarget()}


def capture_provider(provider: DatabaseProvider) -> CaptureProvider:
    return _CAPTURE[provider]


def target_provider(provider: DatabaseProvider) -> TargetProvider:
    return _TARGET[provider]
