"""Opening secrets: what a process has read once it does not read again, and a rotated one is never mixed up."""

from chalicelib.domain.source import Source
from chalicelib.kit.masking import Secret
from tests.support.in_process_app import House, changed


def opened(house: House, source: Source) -> str:
    return house.services.credentials.open(source.credentials)["password"].reveal()


def rotated(house: House, source: Source, password: str) -> Source:
    given = changed(source, secrets={"password": Secret(password)})
    return house.services.sources.update(house.call(), source.id, given)


def test_a_process_reads_the_sealed_secrets_of_one_version_once(house: House) -> None:
    source = house.source()
    house.restart()
    house.gate.watch()
    texts = [opened(house, source), opened(house, source)]
    assert texts == ["source password"] * 2
    assert [point.what for point in house.gate.unwatch()] == ["BatchGetItem"]


def test_a_rotated_secret_is_opened_as_it_is_now(house: House) -> None:
    source = house.source()
    assert opened(house, source) == "source password"
    assert opened(house, rotated(house, source, "another password")) == "another password"


def test_who_still_holds_the_old_version_opens_no_older_secret_than_is_stored(house: House) -> None:
    source = house.source()
    rotated(house, source, "another password")
    house.restart()
    assert opened(house, source) == "another password"
