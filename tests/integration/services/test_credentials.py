"""Opening secrets: a process reads each version once, and always opens the current one."""

from chalicelib.domain.source import Source
from chalicelib.kit.masking import Secret
from tests.support.in_process_app import InProcessApp, changed_input


def opened(app: InProcessApp, source: Source) -> str:
    return app.services.credentials.open(source.credentials)["password"].reveal()


def rotated(app: InProcessApp, source: Source, password: str) -> Source:
    rotation = changed_input(source, secrets={"password": Secret(password)})
    return app.services.sources.update(app.context(), source.id, rotation)


def test_a_process_reads_the_sealed_secrets_of_one_version_once(app: InProcessApp) -> None:
    source = app.source()
    app.restart()
    app.interceptor.watch()
    texts = [opened(app, source), opened(app, source)]
    assert texts == ["source password"] * 2
    assert [point.operation for point in app.interceptor.unwatch()] == ["BatchGetItem"]


def test_a_rotated_secret_is_opened_with_its_new_value(app: InProcessApp) -> None:
    source = app.source()
    assert opened(app, source) == "source password"
    assert opened(app, rotated(app, source, "another password")) == "another password"


def test_credentials_of_an_old_version_open_the_stored_secret(app: InProcessApp) -> None:
    source = app.source()
    rotated(app, source, "another password")
    app.restart()
    assert opened(app, source) == "another password"
