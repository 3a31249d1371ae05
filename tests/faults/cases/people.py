"""What people do with users, invites, passwords and tokens for programs, through the whole API."""

import json
from collections.abc import Callable
from dataclasses import replace

from chalicelib.domain.access import Actor, Role
from chalicelib.domain.accounts.user import User
from chalicelib.errors import Conflict, Unauthenticated
from chalicelib.kit.ids import id_from
from chalicelib.kit.masking import Secret
from chalicelib.services.accounts.api_tokens import NewToken
from chalicelib.services.audit.restores import AUDIT_ID
from tests.faults.cases.operation_case import PreparedOperation, named_cases
from tests.faults.cases.registered import KEY, api_operation
from tests.faults.harness.whole_app import EMAIL, PASSWORD, ApiUser
from tests.faults.inspection import Json, bodies
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.second_factors import app_code

MEMBER = "member@example.com"
MEMBERS_PASSWORD, NEXT_PASSWORD = "four unrelated plain words", "nine other lively mountain goats"


def stored_user(app: InProcessApp) -> Json | None:
    """The row of the user who is not the first Admin."""
    return next((one for one in bodies(app, "users") if one["email"] == MEMBER), None)


def user_has(app: InProcessApp, field: str, value: str) -> Callable[[], bool]:
    def has() -> bool:
        found = stored_user(app)
        return found is not None and found[field] == value

    return has


def member(app: InProcessApp) -> User:
    """A user who has joined."""
    invites = app.services.invites
    token = invites.invite(app.context(), MEMBER, Role.VIEWER).token
    return invites.accept(app.context(), token.reveal(), Secret(MEMBERS_PASSWORD))


def token_of(app: InProcessApp, user: User, name: str) -> NewToken:
    """A token that the user has made."""
    actor = Actor(id=user.id, email=user.email, role=user.role, via="session")
    return app.services.api_tokens.create(replace(app.context(), actor=actor), name, Role.VIEWER, None)


def inviting(app: InProcessApp) -> PreparedOperation:
    body = {"email": MEMBER, "role": "Ops"}
    return api_operation(app, "POST", "/users/invite", body, key=KEY, is_done=user_has(app, "status", "INVITED"))


def inviting_again(app: InProcessApp) -> PreparedOperation:
    """Somebody who has not joined, this time with another role."""
    app.services.invites.invite(app.context(), MEMBER, Role.VIEWER)
    body = {"email": MEMBER, "role": "Ops"}
    return api_operation(app, "POST", "/users/invite", body, key=KEY, is_done=user_has(app, "role", "Ops"))


def accepting(app: InProcessApp) -> PreparedOperation:
    token = app.services.invites.invite(app.context(), MEMBER, Role.VIEWER).token.reveal()
    body = {"password": MEMBERS_PASSWORD}
    return api_operation(app, "POST", f"/invites/{token}/accept", body, is_done=user_has(app, "status", "ACTIVE"))


def changing_role(app: InProcessApp) -> PreparedOperation:
    path = f"/users/{member(app).id}/role"
    return api_operation(app, "PATCH", path, {"role": "Ops"}, is_done=user_has(app, "role", "Ops"))


def disabling(app: InProcessApp) -> PreparedOperation:
    path = f"/users/{member(app).id}/disable"
    return api_operation(app, "POST", path, is_done=user_has(app, "status", "DISABLED"))


def enabling(app: InProcessApp) -> PreparedOperation:
    user = member(app)
    app.services.users.disable(app.context(), user.id)
    return api_operation(app, "POST", f"/users/{user.id}/enable", is_done=user_has(app, "status", "ACTIVE"))


def deleting_user(app: InProcessApp) -> PreparedOperation:
    """One who has tokens. An index that lags behind may not show them: then they stay, and sign nobody in."""
    user = member(app)
    texts = [token_of(app, user, name).text for name in ("one", "other")]

    def is_done() -> bool:
        return stored_user(app) is None and not any(_signs_in(app, text) for text in texts)

    return api_operation(app, "DELETE", f"/users/{user.id}", is_done=is_done)


def _signs_in(app: InProcessApp, token: Secret) -> bool:
    try:
        app.services.api_tokens.authenticate(token.reveal())
    except Unauthenticated:
        return False
    return True


def changing_password(app: InProcessApp) -> PreparedOperation:
    """That of the Admin who is signed in. A second attempt after a lost answer is not signed in any more."""
    body = {"current_password": PASSWORD, "new_password": NEXT_PASSWORD}

    def is_done() -> bool:
        (user,) = bodies(app, "users")
        return bool(user["version"] == 2)

    return api_operation(app, "POST", "/auth/password", body, is_done=is_done)


def making_token(app: InProcessApp) -> PreparedOperation:
    body = {"name": "program", "role": "Viewer"}
    return api_operation(
        app, "POST", "/auth/tokens", body, key=KEY, is_done=lambda: len(app.tables.rows("api-tokens")) == 1
    )


def ending_token(app: InProcessApp) -> PreparedOperation:
    made = token_of(app, member(app), "program")
    return api_operation(
        app, "DELETE", f"/auth/tokens/{made.token.id}", is_done=lambda: not app.tables.rows("api-tokens")
    )


def ending_session(app: InProcessApp) -> PreparedOperation:
    """Another session of the same Admin. An index that lags behind may not show it yet: then it is not found."""
    other = ApiUser.signed_in(app)
    [row] = app.tables.rows("sessions")
    path = f"/auth/sessions/{id_from('session', row['id'])}"
    return api_operation(app, "DELETE", path, is_done=lambda: not _is_signed_in(other))


def ending_other_sessions(app: InProcessApp) -> PreparedOperation:
    other = ApiUser.signed_in(app)
    return api_operation(app, "POST", "/auth/sessions/end-others", is_done=lambda: not _is_signed_in(other))


def _is_signed_in(user: ApiUser) -> bool:
    try:
        user.send("GET", "/session")
    except Conflict:
        return False
    return True


def starting_second_factor(app: InProcessApp) -> PreparedOperation:
    def is_done() -> bool:
        return _admin(app)["second_factor"] is not None

    return api_operation(app, "POST", "/auth/totp", key=KEY, is_done=is_done)


def confirming_second_factor(app: InProcessApp) -> PreparedOperation:
    """A code lives for a minute: a second attempt sends the one that the app shows then."""
    user = ApiUser.signed_in(app)
    secret = json.loads(user.send("POST", "/auth/totp").response.body)["secret"]
    return PreparedOperation(
        warm_up=lambda: user.send("GET", "/session"),
        request=lambda: user.send("POST", "/auth/totp/confirm", {"code": app_code(secret, app.clock.now)}),
        is_done=lambda: _admin(app)["second_factor"]["confirmed_at"] is not None,
        repeats_without_answer=True,
        needs_ticks=False,
        ticks_before=0,
    )


def removing_second_factor(app: InProcessApp) -> PreparedOperation:
    user = ApiUser.signed_in(app)
    secret = json.loads(user.send("POST", "/auth/totp").response.body)["secret"]
    confirmed = user.send("POST", "/auth/totp/confirm", {"code": app_code(secret, app.clock.now)})
    body = {"password": PASSWORD, "code": json.loads(confirmed.response.body)["recovery_codes"][0]}
    return PreparedOperation(
        warm_up=lambda: user.send("GET", "/session"),
        request=lambda: user.send("DELETE", "/auth/totp", body),
        is_done=lambda: _admin(app)["second_factor"] is None,
        repeats_without_answer=True,
        needs_ticks=False,
        ticks_before=0,
    )


def removing_second_factor_of_member(app: InProcessApp) -> PreparedOperation:
    user = member(app)
    person = ApiUser()
    person.login(MEMBER, MEMBERS_PASSWORD)
    secret = json.loads(person.send("POST", "/auth/totp").response.body)["secret"]
    person.send("POST", "/auth/totp/confirm", {"code": app_code(secret, app.clock.now)})

    def is_done() -> bool:
        found = stored_user(app)
        return found is not None and found["second_factor"] is None

    return api_operation(app, "DELETE", f"/users/{user.id}/totp", is_done=is_done)


def _admin(app: InProcessApp) -> Json:
    return next(one for one in bodies(app, "users") if one["email"] == EMAIL)


def accepting_restored(app: InProcessApp) -> PreparedOperation:
    """A person accepts the audit trail of restored tables, which has no anchor."""

    def is_done() -> bool:
        return any(record.action == "audit.accept_restored" for record in app.audit_records(AUDIT_ID))

    body = {"anchor": 0, "reason": "an exercise"}
    return api_operation(app, "POST", "/audit/accept-restored", body, key=KEY, is_done=is_done)


PEOPLE_CASES = named_cases(
    ("audit accept restored", accepting_restored),
    ("user invited", inviting),
    ("user invited again", inviting_again),
    ("invite accepted", accepting),
    ("user role", changing_role),
    ("user disable", disabling),
    ("user enable", enabling),
    ("user delete", deleting_user),
    ("password", changing_password),
    ("session end", ending_session),
    ("session end others", ending_other_sessions),
    ("second factor start", starting_second_factor),
    ("second factor confirm", confirming_second_factor),
    ("second factor remove", removing_second_factor),
    ("second factor of a user", removing_second_factor_of_member),
    ("token create", making_token),
    ("token delete", ending_token),
)
