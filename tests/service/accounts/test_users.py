"""There is always an active Admin, whatever happens at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from chalicelib.domain.access import Actor, RequestContext, Role
from chalicelib.domain.accounts.api_token import MAX_TOKENS, ApiToken
from chalicelib.domain.accounts.user import User, UserStatus
from chalicelib.errors import Conflict
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.services.accounts.users import UserService
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp
from tests.support.entities import NOW, make_user, store_new

PASSWORD = Secret("four quiet lamps at noon")


def make(app: InProcessApp, role: Role = Role.ADMIN) -> User:
    user = make_user(role=role)
    store_new(app.services.stores.accounts.users, user)
    return user


def as_(app: InProcessApp, user: User) -> RequestContext:
    return replace(app.context(), actor=Actor(id=user.id, email=user.email, role=user.role, via="session"))


def active_admins(app: InProcessApp) -> int:
    return sum(user.is_active_admin for user in app.services.users.list(limit=500, after=None).items)


def test_two_admins_who_demote_each_other_at_the_same_moment_leave_one(app: InProcessApp) -> None:
    first, second = make(app), make(app)
    change_role = app.services.users.change_role
    app.interceptor.before_first_write(lambda: change_role(as_(app, second), first.id, Role.VIEWER))
    with pytest.raises(Conflict) as refused:
        change_role(as_(app, first), second.id, Role.VIEWER)
    assert refused.value.code == "LAST_ADMIN"
    assert (active_admins(app), app.services.stores.accounts.users.active_admins()) == (1, 1)


@pytest.mark.parametrize("take_away", ["disable", "delete"])
def test_many_who_take_each_other_away_at_the_same_time_leave_one(app: InProcessApp, take_away: str) -> None:
    admins = [make(app) for _ in range(6)]
    pairs = zip(admins, [*admins[1:], admins[0]], strict=True)

    def run(actor: User, target: User) -> None:
        try:
            getattr(app.services.users, take_away)(as_(app, actor), target.id)
        except Conflict:
            return

    with ThreadPoolExecutor(len(admins)) as threads:
        list(threads.map(lambda pair: run(*pair), pairs))
    assert active_admins(app) == app.services.stores.accounts.users.active_admins() >= 1


def test_the_number_of_admins_follows_every_change(app: InProcessApp) -> None:
    users: UserService = app.services.users
    keeper, person = make(app), make(app, Role.VIEWER)
    count = app.services.stores.accounts.users.active_admins
    for act, expected in (
        (lambda: users.change_role(as_(app, keeper), person.id, Role.ADMIN), 2),
        (lambda: users.disable(as_(app, keeper), person.id), 1),
        (lambda: users.change_role(as_(app, keeper), person.id, Role.OPS), 1),
        (lambda: users.change_role(as_(app, keeper), person.id, Role.ADMIN), 1),
        (lambda: app.services.stores.accounts.users.save_alone(_with_password(app, person)), 1),
        (lambda: users.enable(as_(app, keeper), person.id), 2),
        (lambda: users.delete(as_(app, keeper), person.id), 1),
    ):
        act()
        assert count() == expected == active_admins(app)


def _with_password(app: InProcessApp, user: User) -> User:
    return replace(app.services.users.get(user.id), password_hash="$argon2id$any")


def test_a_lost_reply_of_a_change_is_no_error(app: InProcessApp) -> None:
    from botocore.exceptions import ReadTimeoutError

    keeper, person = make(app), make(app, Role.VIEWER)

    def lose_once(point: Point, send: InterceptedCall) -> object:
        answer = send()
        if point.writes:
            app.interceptor.unwatch()
            raise ReadTimeoutError(endpoint_url="aws")
        return answer

    app.interceptor.watch(lose_once)
    assert app.services.users.change_role(as_(app, keeper), person.id, Role.ADMIN).role is Role.ADMIN
    assert active_admins(app) == app.services.stores.accounts.users.active_admins() == 2


@pytest.mark.parametrize(
    ("email", "password"),
    [
        ("no address", "four quiet lamps at noon"),
        ("a@b@c", "four quiet lamps at noon"),
        ("${x}@example.com", "four quiet lamps at noon"),
        ("admin@example.com", "four quiet ${lamps}"),
        ("admin@example.com", "x" * 257),
    ],
)
def test_a_first_admin_who_could_never_sign_in_is_refused_at_the_start(
    app: InProcessApp, email: str, password: str
) -> None:
    with pytest.raises(ValueError, match="HEADGATE_ADMIN_"):
        app.services.users.install_admin(email, Secret(password))
    assert active_admins(app) == 0


def test_a_user_with_more_tokens_than_one_transaction_removes_can_be_deleted(app: InProcessApp) -> None:
    admin, user, tokens = make(app), make(app, Role.OPS), app.services.stores.accounts.api_tokens
    for number in range(MAX_TOKENS + 50):
        token = ApiToken(
            id=new_id(),
            user_id=user.id,
            name=f"{number}",
            role=Role.OPS,
            token_hash="-",
            expires_at=NOW,
            created_at=NOW,
            updated_at=NOW,
        )
        store_new(tokens, token)
    app.services.users.delete(as_(app, admin), user.id)
    assert list(tokens.all_in("user_id", user.id)) == []
    assert app.services.stores.accounts.users.find(user.id) is None


def test_an_enabled_user_who_never_joined_is_invited_and_nothing_more(app: InProcessApp) -> None:
    keeper = make(app)
    invited = app.services.invites.invite(app.context(), "invited@example.com", Role.ADMIN).user
    app.services.users.disable(as_(app, keeper), invited.id)
    assert app.services.users.enable(as_(app, keeper), invited.id).status is UserStatus.INVITED
    assert app.services.stores.accounts.users.active_admins() == 1
