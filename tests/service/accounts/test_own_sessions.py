"""People see where they are signed in, and end what is theirs."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.access import Actor, Role
from chalicelib.errors import NotFound, NotPermitted
from chalicelib.services.accounts.own_sessions import OwnSessions
from tests.service.stores.conftest import ids_by_pages
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.second_factors import HOME, Person, make_person

ELSEWHERE = "198.51.100.9"


@pytest.fixture
def person(app: InProcessApp) -> Person:
    return make_person(app)


def service(person: Person) -> OwnSessions:
    return person.app.services.own_sessions


def test_sessions_are_listed_newest_first_with_what_they_began_with(person: Person) -> None:
    first = person.sign_in()
    person.app.clock.advance(60)
    second = person.sign_in(address=ELSEWHERE)
    listed = service(person).list(person.context(second), limit=10, after=None).items
    assert [session.public_id for session in listed] == [second.session.public_id, first.session.public_id]
    assert [(session.address, session.user_agent) for session in listed] == [
        (ELSEWHERE, "Browser/1.0"),
        (HOME, "Browser/1.0"),
    ]


def test_the_last_use_is_exact_to_a_minute_and_keeps_a_session_alive(person: Person) -> None:
    signed_in = person.sign_in()
    assert signed_in.token is not None
    person.app.clock.advance(90)
    person.app.services.sessions.signed_in(signed_in.token.reveal())
    [session] = service(person).list(person.context(signed_in), limit=10, after=None).items
    assert session.last_seen_at == person.app.clock.now
    assert session.expires_at() == person.app.clock.now + timedelta(minutes=30)


def test_a_session_that_has_ended_is_not_listed(person: Person) -> None:
    person.sign_in()
    person.app.clock.advance(1800)
    present = person.sign_in()
    listed = service(person).list(person.context(present), limit=10, after=None).items
    assert [session.public_id for session in listed] == [present.session.public_id]


def test_a_page_is_full_although_many_sessions_have_ended(person: Person) -> None:
    for _ in range(5):
        person.sign_in()
    present = person.sign_in()
    service(person).end_others(person.context(present))
    others = []
    for _ in range(3):
        person.app.clock.advance(1)
        others.append(person.sign_in().session.public_id)

    def page(after: str | None) -> object:
        found = service(person).list(person.context(present), limit=2, after=after)
        return found.map(lambda session: replace(session, id=session.public_id))

    expected = [*reversed(others), present.session.public_id]
    assert ids_by_pages(page) == expected  # type: ignore[arg-type]
    assert len(service(person).list(person.context(present), limit=2, after=None).items) == 2


def test_one_session_is_ended_by_its_id_and_the_others_live_on(person: Person) -> None:
    first, second = person.sign_in(), person.sign_in()
    service(person).end(person.context(second), first.session.public_id)
    assert (person.is_valid(first), person.is_valid(second)) == (False, True)
    with pytest.raises(NotFound):
        service(person).end(person.context(second), first.session.public_id)
    assert "session.end" in [record.action for record in person.app.audit_records(person.user.id)]


def test_the_present_session_can_end_itself(person: Person) -> None:
    present = person.sign_in()
    service(person).end(person.context(present), present.session.public_id)
    assert not person.is_valid(present)


def test_the_sessions_of_others_are_neither_seen_nor_ended(person: Person) -> None:
    stranger = make_person(person.app)
    own, foreign = person.sign_in(), stranger.sign_in()
    listed = service(person).list(person.context(own), limit=10, after=None).items
    assert [session.user_id for session in listed] == [person.user.id]
    with pytest.raises(NotFound):
        service(person).end(person.context(own), foreign.session.public_id)
    service(person).end_others(person.context(own))
    assert stranger.is_valid(foreign)


def test_all_others_are_ended_at_once_and_for_good(person: Person) -> None:
    others = [person.sign_in() for _ in range(3)]
    present = person.sign_in()
    service(person).end_others(person.context(present))
    assert [person.is_valid(session) for session in (*others, present)] == [False, False, False, True]
    listed = service(person).list(person.context(present), limit=10, after=None).items
    assert [session.public_id for session in listed] == [present.session.public_id]


def test_a_session_that_begins_while_others_are_ended_lives_or_is_ended_but_the_present_one_stays(
    person: Person,
) -> None:
    present = person.sign_in()
    person.app.interceptor.before_first_write(person.sign_in)
    service(person).end_others(person.context(present))
    assert person.is_valid(present)


def test_the_id_is_neither_the_token_nor_what_is_stored(person: Person) -> None:
    signed_in = person.sign_in()
    assert signed_in.token is not None
    [row] = person.app.tables.rows("sessions")
    assert signed_in.session.public_id not in (row["id"], signed_in.token.reveal())


def test_a_token_sees_the_sessions_of_its_owner_and_ends_none(person: Person) -> None:
    signed_in = person.sign_in()
    actor = Actor(id=person.user.id, email=None, role=Role.VIEWER, via="token", credential_id="t")
    context = replace(person.app.context(), actor=actor)
    [seen] = service(person).list(context, limit=10, after=None).items
    with pytest.raises(NotPermitted):
        service(person).end(context, seen.public_id)
    with pytest.raises(NotPermitted):
        service(person).end_others(context)
    assert person.is_valid(signed_in)
