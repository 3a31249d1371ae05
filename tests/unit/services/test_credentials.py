"""Sealing, rotating and opening secrets, and handing them to Connect."""

from chalicelib.domain.source import Source
from chalicelib.kit.masking import Secret
from tests.support.in_process_app import InProcessApp, changed


def opened(app: InProcessApp, source: Source) -> str:
    return app.services.credentials.open(source.credentials)["password"].reveal()


def rotated(app: InProcessApp, source: Source, password: str) -> Source:
    data = changed(source, secrets={"password": Secret(password)})
    return app.services.sources.update(app.context(), source.id, data)


def test_a_process_reads_the_sealed_secrets_of_one_version_once(app: InProcessApp) -> None:
    source = app.source()
    app.restart()
    app.interceptor.watch()
    texts = [opened(app, source), opened(app, source)]
    assert texts == ["source password"] * 2
    assert [point.what for point in app.interceptor.unwatch()] == ["BatchGetItem"]


def test_a_rotated_secret_is_opened_as_it_is_now(app: InProcessApp) -> None:
    source = app.source()
    assert opened(app, source) == "source password"
    assert opened(app, rotated(app, source, "another password")) == "another password"


def test_an_older_version_of_a_source_opens_the_stored_secret(app: InProcessApp) -> None:
    source = app.source()
    rotated(app, source, "another password")
    app.restart()
    assert opened(app, source) == "another password"
