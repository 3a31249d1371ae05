"""The first Admin is made once, while the installation has never had an Admin."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.domain.access import Role
from chalicelib.domain.accounts.user import User
from chalicelib.errors import Unauthenticated
from chalicelib.kit.log import get_logger
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password
from chalicelib.stores.accounts.claims import AccountClaimRow
from chalicelib.stores.accounts.users import UserRows
from tests.support.apps.in_process_app import InProcessApp
from tests.support.entities import make_user, store_new

EMAIL, PASSWORD = "admin@example.com", Secret("four quiet lamps at noon")


def users(app: InProcessApp) -> list[User]:
    return list(app.services.users.list(limit=10, after=None).items)


def start(app: InProcessApp, email: str = EMAIL, password: Secret = PASSWORD) -> None:
    """A process starts with the settings of the first Admin."""
    app.restart()
    app.services.users.install_admin(email, password)


def other_admin(app: InProcessApp) -> User:
    admin = make_user(role=Role.ADMIN)
    store_new(app.services.stores.accounts.users, admin)
    return admin


def test_the_first_start_makes_the_admin_and_a_later_one_changes_nothing(app: InProcessApp) -> None:
    start(app)
    [admin] = users(app)
    assert (admin.email, admin.role) == (EMAIL, Role.ADMIN)
    start(app, password=Secret("another password altogether"))
    assert users(app) == [admin]
    assert app.services.sessions.login(app.context(), EMAIL, PASSWORD).token


def test_a_first_admin_who_was_deleted_does_not_come_back(app: InProcessApp) -> None:
    start(app)
    [first] = users(app)
    other = other_admin(app)
    app.services.users.delete(app.context(), first.id)
    start(app)
    assert users(app) == [other]
    with pytest.raises(Unauthenticated):
        app.services.sessions.login(app.context(), EMAIL, PASSWORD)


def test_another_address_makes_no_second_admin(app: InProcessApp) -> None:
    start(app)
    start(app, email="somebody.else@example.com")
    assert [user.email for user in users(app)] == [EMAIL]


def test_the_memory_of_an_admin_survives_the_deletion_of_every_user(app: InProcessApp) -> None:
    start(app)
    for row in app.tables.rows("users"):
        UserRows(row["id"]).delete()
    start(app)
    assert users(app) == []


def test_an_operator_who_removes_the_note_gets_another_admin(app: InProcessApp) -> None:
    start(app)
    AccountClaimRow("first-admin").delete()
    start(app, email="another@example.com")
    assert {user.email for user in users(app)} == {EMAIL, "another@example.com"}
    assert app.services.stores.accounts.users.active_admins() == 2


@pytest.mark.parametrize("how", ["invited", "promoted"])
def test_an_admin_who_came_in_another_way_is_remembered_too(app: InProcessApp, how: str) -> None:
    if how == "invited":
        token = app.services.invites.invite(app.context(), "first@example.com", Role.ADMIN).token
        app.services.invites.accept(app.context(), token.reveal(), PASSWORD)
    else:
        person = make_user(role=Role.OPS)
        store_new(app.services.stores.accounts.users, person)
        app.services.users.change_role(app.context(), person.id, Role.ADMIN)
    start(app)
    assert EMAIL not in [user.email for user in users(app)]


def test_an_installation_that_has_only_viewers_gets_its_first_admin(app: InProcessApp) -> None:
    store_new(app.services.stores.accounts.users, make_user(role=Role.VIEWER))
    start(app)
    assert {user.role for user in users(app)} == {Role.VIEWER, Role.ADMIN}


def test_of_processes_that_start_at_once_one_makes_the_admin(app: InProcessApp) -> None:
    hashed, ready = Secret(hash_password(PASSWORD)), threading.Barrier(4)

    def start_one(number: int) -> None:
        ready.wait()
        app.services.users.install_admin(f"admin{number}@example.com", hashed)

    with ThreadPoolExecutor(4) as processes:
        list(processes.map(start_one, range(4)))
    assert len(users(app)) == app.services.stores.accounts.users.active_admins() == 1


@pytest.mark.parametrize("password", ["admin", "eleven char", "passwordpassword", EMAIL, "x" * 257, "${lamps} at noon"])
def test_a_password_that_breaks_the_rules_is_refused_at_the_start(app: InProcessApp, password: str) -> None:
    with pytest.raises(ValueError, match="HEADGATE_ADMIN_PASSWORD") as refused:
        start(app, password=Secret(password))
    assert password not in str(refused.value)
    assert users(app) == []


def test_an_address_that_has_an_account_without_the_role_makes_no_admin_and_says_so(
    app: InProcessApp, caplog: pytest.LogCaptureFixture
) -> None:
    store_new(app.services.stores.accounts.users, make_user(email=EMAIL, role=Role.VIEWER))
    with caplog.at_level(logging.WARNING, logger=get_logger().name):
        start(app)
    assert [user.role for user in users(app)] == [Role.VIEWER]
    assert "first Admin" in caplog.text
