"""An app on DynamoDB Local, which is closer to DynamoDB than the double is."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.apps.call_interceptor import CallInterceptor
from tests.support.apps.in_process_app import InProcessApp, app_on
from tests.support.apps.tables import on_dynamodb_local
from tests.support.servers import dynamodb_local


@contextmanager
def app_on_dynamodb_local() -> Iterator[InProcessApp]:
    interceptor = CallInterceptor()
    with (
        dynamodb_local() as url,
        on_dynamodb_local(interceptor, url) as tables,
        app_on(tables, interceptor) as app,
    ):
        yield app
