"""S2: every route with every kind of caller, against `permissions.txt`, which people have reviewed.

A cell of the matrix is refused with 401, refused with 403, or let through: then the route answers, whatever it thinks
of an empty body and of ids that nobody has.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from chalicelib.api.framework.router import Router
from tests.security.figure import Figure, none_of
from tests.support.api_assertions import UNKNOWN_ID
from tests.support.apps.sandbox import Api, Sandbox, running_sandbox

REVIEWED = Path(__file__).parent / "permissions.txt"
THROUGH = "through"
_SIGNED_IN = ("read", "write", "operate", "administer", "manage_users")
_ROLES: Mapping[str, tuple[str, ...]] = {
    "Viewer": ("read",),
    "Ops": ("read", "write", "operate"),
    "Admin": _SIGNED_IN,
}
NOBODY = ("anonymous", "disabled Admin", "expired session", "deleted token", "service credential")
"""Callers who are nobody to the API: they have no session that is valid, and no token."""
_FOR_PEOPLE = frozenset(
    {
        "POST /api/v1/auth/logout",
        "DELETE /api/v1/auth/sessions/{uuid}",
        "POST /api/v1/auth/sessions/end-others",
        "POST /api/v1/auth/totp",
    }
)
"""Refused to tokens whatever the body says; the other routes for people look at the body first."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One route and one caller: what has to happen, and what did."""

    route: str
    caller: str
    expected: str
    actual: str


def reviewed() -> dict[str, str]:
    """The permission of each route, as it was reviewed: `GET /api/v1/sources` is `read`."""
    lines = (line.split() for line in REVIEWED.read_text().splitlines())
    return {f"{method} {path}": permission for method, path, permission in lines}


def declared() -> dict[str, str]:
    from app import lazy_routes

    return {f"{route.method} {path}": route.needs.value for path, route in lazy_routes}


def expected(route: str, permission: str, caller: str) -> str:
    role, _, kind = caller.partition(" ")
    if permission == "public":
        return THROUGH
    if permission == "service":
        return THROUGH if caller == "service credential" else "403"
    if caller in NOBODY:
        return "401"
    if permission == "signed_in":
        return "403" if kind == "token" and route in _FOR_PEOPLE else THROUGH
    if kind == "token" and permission == "manage_users":
        return "403"
    return THROUGH if permission in _ROLES[role] else "403"


def cells(sandbox: Sandbox) -> Iterator[Cell]:
    callers = _callers(sandbox)
    for route, permission in reviewed().items():
        for caller, api in callers.items():
            actual = _ask(api() if route.endswith("/auth/logout") else _kept(sandbox, caller, api), route)
            yield Cell(route, caller, expected(route, permission, caller), actual)


def foreign_tokens_reached(sandbox: Sandbox) -> int:
    """How many requests of users reach the token of another user: (GET, DELETE) x each role but Admin."""
    owner = sandbox.signed_in(sandbox.make_user("Ops")[1])
    token_id = owner.post_ok("/auth/tokens", {"name": "own", "role": "Viewer"})["id"]
    others = [sandbox.signed_in(sandbox.make_user(role)[1]) for role in ("Viewer", "Ops")]
    answers = [api.call(method, f"/auth/tokens/{token_id}") for api in others for method in ("GET", "DELETE")]
    listed = [token for api in others for token in api.get_ok("/auth/tokens") if token["id"] == token_id]
    return sum(answer.status_code != 404 for answer in answers) + len(listed)


def _kept(sandbox: Sandbox, caller: str, make: Callable[[], Api]) -> Api:
    api: Api = sandbox.cached(f"matrix/{caller}", make)
    return api


def _callers(sandbox: Sandbox) -> dict[str, Callable[[], Api]]:
    made: dict[str, Callable[[], Api]] = {"anonymous": sandbox.unauthenticated}
    for role in _ROLES:
        made[f"{role} session"] = lambda role=role: sandbox.signed_in(sandbox.make_user(role)[1])
        made[f"{role} token"] = lambda role=role: _program(sandbox, _token(sandbox, role)["token"])
    made["disabled Admin"] = lambda: _disabled(sandbox)
    made["expired session"] = lambda: _expired(sandbox)
    made["deleted token"] = lambda: _deleted(sandbox)
    made["service credential"] = lambda: _program(sandbox, sandbox.service_credential)
    return made


def _token(sandbox: Sandbox, role: str) -> dict[str, str]:
    """A token with this role, of an Admin: it must not have more rights than its role."""
    return sandbox.admin.post_ok("/auth/tokens", {"name": "matrix", "role": role})


def _program(sandbox: Sandbox, token: str) -> Api:
    api = sandbox.unauthenticated()
    api.http.headers["Authorization"] = f"Bearer {token}"
    return api


def _disabled(sandbox: Sandbox) -> Api:
    user_id, email = sandbox.make_user("Admin")
    api = sandbox.signed_in(email)
    sandbox.change_user(user_id, role="Admin", status="DISABLED")
    return api


def _expired(sandbox: Sandbox) -> Api:
    user_id, email = sandbox.make_user("Admin")
    api = sandbox.signed_in(email)
    sandbox.age_sessions(user_id)
    return api


def _deleted(sandbox: Sandbox) -> Api:
    made = _token(sandbox, "Admin")
    assert sandbox.admin.delete(f"/auth/tokens/{made['id']}").status_code == 204
    return _program(sandbox, made["token"])


def _ask(api: Api, route: str) -> str:
    method, _, path = route.partition(" ")
    for variable, value in (("{uuid}", UNKNOWN_ID), ("{delivery_uuid}", UNKNOWN_ID), ("{task_id}", "0")):
        path = path.replace(variable, value)
    path = path.replace("{token}", "unknown")
    answer: httpx.Response = api.call(method, "/" + path, None if method in ("GET", "DELETE") else {})
    code = answer.json()["error"]["code"] if answer.status_code in (401, 403) else ""
    refused = {"UNAUTHENTICATED": "401", "FORBIDDEN": "403"}
    return refused.get(code, THROUGH if answer.status_code < 500 else str(answer.status_code))


def unlisted_route_is_refused() -> bool:
    """Whether a route without a permission cannot even be declared."""
    try:
        Router(tag="Test").get("/unlisted")  # type: ignore[call-arg]
    except TypeError:
        return True
    return False


def figures() -> list[Figure]:
    differing = sorted(declared().items() ^ reviewed().items())
    with running_sandbox() as sandbox:
        measured = list(cells(sandbox))
        reached = foreign_tokens_reached(sandbox)
    wrong = [cell for cell in measured if cell.actual != cell.expected]
    return [
        none_of("routes that differ from the reviewed list", differing),
        Figure("cells of the matrix (routes x callers)", str(len(measured)), "all", bool(measured)),
        none_of("cells that are not as decided", wrong),
        Figure("requests that reach another user's token", str(reached), "0", not reached),
        Figure("a route without a permission", "not declared", "not declared", unlisted_route_is_refused()),
    ]
