"""Second factors are set up in two steps, and removed by who can prove it or by an Admin."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from chalicelib.domain.access import Actor, RequestContext, Role
from chalicelib.errors import Conflict, HeadgateError, NotFound, NotPermitted, Unauthenticated
from chalicelib.kit.masking import Secret
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.second_factors import PASSWORD, Person, app_code, make_person
from tests.support.entities import make_user, store_new


@pytest.fixture
def person(app: InProcessApp) -> Person:
    return make_person(app)


def actions(person: Person) -> list[str]:
    return [record.action for record in person.app.audit_records(person.user.id)]


def test_the_uri_has_what_an_app_reads(person: Person) -> None:
    made = person.app.services.second_factor.start(person.context(person.sign_in()))
    uri = urlsplit(made.uri.reveal())
    assert (uri.scheme, uri.netloc, uri.path) == (
        "otpauth",
        "totp",
        f"/Headgate:{person.user.email}".replace("@", "%40"),
    )
    assert parse_qs(uri.query)["secret"] == [made.secret.reveal()]
    assert parse_qs(uri.query)["issuer"] == ["Headgate"]


def test_until_it_is_confirmed_nothing_is_asked_for(person: Person) -> None:
    person.app.services.second_factor.start(person.context(person.sign_in()))
    assert person.sign_in().token


def test_a_wrong_code_confirms_nothing_and_a_right_one_does(person: Person) -> None:
    own, service = person.context(person.sign_in()), person.app.services.second_factor
    secret = service.start(own).secret.reveal()
    for code in ("", "12345", "not a code", app_code(secret, person.app.clock.now, 5)):
        with pytest.raises(Unauthenticated) as refused:
            service.confirm(own, Secret(code))
        assert refused.value.code == "INVALID_CREDENTIALS"
    assert len(service.confirm(own, Secret(app_code(secret, person.app.clock.now)))) == 10
    assert actions(person).count("user.add_second_factor") == 5


def test_only_the_newest_secret_can_be_confirmed(person: Person) -> None:
    own, service = person.context(person.sign_in()), person.app.services.second_factor
    first, second = (service.start(own).secret.reveal() for _ in range(2))
    assert first != second
    with pytest.raises(Unauthenticated):
        service.confirm(own, Secret(app_code(first, person.app.clock.now)))
    assert service.confirm(own, Secret(app_code(second, person.app.clock.now)))
    assert len(person.app.tables.rows("secrets")) == 1


def test_confirming_ends_all_other_sessions(person: Person) -> None:
    other = person.sign_in()
    present = person.set_up()
    assert (person.is_valid(other), person.is_valid(present)) == (False, True)


def test_removing_needs_password_and_code_and_ends_all_other_sessions(person: Person) -> None:
    present = person.set_up()
    other = person.sign_in(person.code())
    person.app.clock.advance(30)
    own, service = person.context(present), person.app.services.second_factor
    for password, code in ((Secret("a wrong password"), person.code()), (PASSWORD, "000000"), (PASSWORD, "nonsense")):
        with pytest.raises(Unauthenticated) as refused:
            service.remove(own, password, Secret(code))
        assert refused.value.code == "INVALID_CREDENTIALS"
    service.remove(own, PASSWORD, Secret(person.code()))
    assert (person.is_valid(other), person.is_valid(present)) == (False, True)
    assert person.sign_in().token
    assert person.app.tables.rows("secrets") == []
    assert "user.remove_second_factor" in actions(person)


def test_it_can_be_removed_with_a_recovery_code_and_set_up_again(person: Person) -> None:
    present = person.set_up()
    service, first = person.app.services.second_factor, person.secret
    service.remove(person.context(present), PASSWORD, Secret(person.recovery_codes[0]))
    person.app.clock.advance(30)
    person.set_up()
    assert person.secret != first
    with pytest.raises(Unauthenticated):
        person.sign_in(app_code(first, person.app.clock.now))
    with pytest.raises(Unauthenticated):
        person.sign_in(None)
    assert person.sign_in(person.code()).token


def test_wrong_passwords_for_a_removal_are_counted(person: Person) -> None:
    own, service = person.context(person.set_up()), person.app.services.second_factor
    codes = []
    for _ in range(11):
        with pytest.raises(HeadgateError) as refused:
            service.remove(own, Secret("a wrong password"), Secret("000000"))
        codes.append(refused.value.code)
    assert codes == ["INVALID_CREDENTIALS"] * 10 + ["RATE_LIMITED"]


def test_there_is_one_second_factor(person: Person) -> None:
    own = person.context(person.set_up())
    with pytest.raises(Conflict):
        person.app.services.second_factor.start(own)
    with pytest.raises(Conflict):
        person.app.services.second_factor.confirm(own, Secret(person.code()))


def test_without_one_there_is_nothing_to_confirm_or_remove(person: Person) -> None:
    own, service = person.context(person.sign_in()), person.app.services.second_factor
    with pytest.raises(Conflict):
        service.confirm(own, Secret("000000"))
    with pytest.raises(NotFound):
        service.remove(own, PASSWORD, Secret("000000"))


def test_an_account_without_a_password_has_the_second_factor_of_its_provider(person: Person) -> None:
    signed_in = person.sign_in()
    users = person.app.services.stores.accounts.users
    users.save_alone(replace(users.get(person.user.id), password_hash=None))
    with pytest.raises(Conflict):
        person.app.services.second_factor.start(person.context(signed_in))


def test_a_token_sets_nothing_up(person: Person) -> None:
    actor = Actor(id=person.user.id, email=None, role=Role.OPS, via="token", credential_id="t")
    with pytest.raises(NotPermitted):
        person.app.services.second_factor.start(replace(person.app.context(), actor=actor))


def _as_admin(app: InProcessApp) -> RequestContext:
    admin = make_user(role=Role.ADMIN)
    store_new(app.services.stores.accounts.users, admin)
    return replace(app.context(), actor=Actor(id=admin.id, email=admin.email, role=admin.role, via="session"))


def test_an_admin_removes_that_of_somebody_who_has_lost_it(person: Person) -> None:
    present = person.set_up()
    person.app.services.second_factor.remove_of(_as_admin(person.app), person.user.id)
    assert not person.is_valid(present)
    assert person.sign_in().token
    assert "user.remove_second_factor" in actions(person)
    with pytest.raises(NotFound):
        person.app.services.second_factor.remove_of(_as_admin(person.app), person.user.id)


def test_nobody_removes_their_own_without_a_code(app: InProcessApp) -> None:
    person = make_person(app, role=Role.ADMIN)
    own = person.context(person.set_up())
    with pytest.raises(Conflict):
        app.services.second_factor.remove_of(own, person.user.id)


def test_the_secret_goes_with_its_user(person: Person) -> None:
    person.set_up()
    person.app.services.users.delete(_as_admin(person.app), person.user.id)
    assert person.app.tables.rows("secrets") == []


def test_the_config_provider_of_connect_gets_no_second_factor(person: Person) -> None:
    person.set_up()
    [row] = person.app.tables.rows("secrets")
    with pytest.raises(NotFound):
        person.app.services.secret_provider.read(person.app.context(), row["id"])
