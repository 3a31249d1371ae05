"""S11: what an attacker with some rights gets hold of: passwords by a server in between, slots of others, users."""

from collections.abc import Iterator

import httpx

from chalicelib.domain.database import SslMode
from tests.security.figure import Figure, none_of
from tests.support.apps.sandbox import PASSWORD, Api, Json, Sandbox, running_sandbox
from tests.support.apps.sandbox_stack import DATABASE
from tests.support.databases.self_signed import make_certificate
from tests.support.hostile import server_in_between
from tests.support.waiting import eventually

_MODES = (SslMode.REQUIRE, SslMode.VERIFY_CA, SslMode.VERIFY_FULL)
_SLOT = "slot_of_somebody_else"


def figures() -> list[Figure]:
    tried, given = _passwords_given()
    with running_sandbox() as sandbox:
        followed = list(_secrets_that_followed(sandbox))
        dropped = list(_foreign_slots_dropped(sandbox))
        managed, asked = _managed_by_token(sandbox)
    return [
        none_of(f"passwords given to a man in the middle, of {tried} tries", given, enough=tried == 9),
        none_of("stored passwords kept for a server that another CA vouches for", followed),
        none_of("foreign slots dropped", dropped),
        none_of(f"user management by token, of {asked} requests", managed, enough=asked > 6),
    ]


def _passwords_given() -> tuple[int, list[str]]:
    """How many ways were tried in which a server with a trusted certificate asks, and those with an answer to it."""
    tried, given = 0, []
    for request, body in server_in_between.REQUESTS.items():
        for mode in _MODES:
            with server_in_between.server_in_between(body) as server:
                server.test(mode)
            tried += bool(server.answers)
            # A PasswordMessage begins with `p`, whatever the password is made into.
            given += [f"{request}, {mode}"] if b"".join(server.answers).startswith(b"p") else []
    return tried, given


def _secrets_that_followed(sandbox: Sandbox) -> Iterator[str]:
    """The kinds of systems whose stored password stays when only the CA certificate changes."""
    for path, body in (("/sources", sandbox.source_body()), ("/destinations", sandbox.destination_body())):
        made = sandbox.admin.post_ok(path, body)
        certificate = {"ca_certificate": make_certificate().certificate}
        changed = sandbox.admin.put(f"{path}/{made['id']}", {**body, "credentials": certificate})
        if changed.status_code != 422:
            yield path


def _foreign_slots_dropped(sandbox: Sandbox) -> Iterator[str]:
    """By a pipeline that names the slot of somebody else, with and without consent, and is deleted with `drop_slot`."""
    for options in ({}, {"adopt_existing": True}):
        with sandbox.postgresql.connect(DATABASE) as superuser:
            superuser.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [_SLOT])
            body = sandbox.pipeline_body(options={"slot_name": _SLOT, **options})
            made = sandbox.admin.post("/pipelines", body)
            if made.status_code == 201:
                path = f"/pipelines/{made.json()['id']}"
                sandbox.admin.post_ok(f"{path}/deploy", status=200)
                assert sandbox.admin.delete(f"{path}?drop_slot=true").status_code == 204
            query = "SELECT active FROM pg_replication_slots WHERE slot_name = %s"
            if superuser.execute(query.encode(), [_SLOT]).fetchone() is None:
                yield f"{options}"
                continue
            eventually(lambda: superuser.execute(query.encode(), [_SLOT]).fetchone() == (False,))  # noqa: B023
            superuser.execute("SELECT pg_drop_replication_slot(%s)", [_SLOT])


def _managed_by_token(sandbox: Sandbox) -> tuple[list[str], int]:
    """What of the management of users an Admin's token can do, and how many requests were made."""
    user_id, email = sandbox.make_user("Viewer")
    owner = sandbox.signed_in(sandbox.make_user("Admin")[1])
    other = sandbox.signed_in(email, PASSWORD).post_ok("/auth/tokens", {"name": "other", "role": "Viewer"})
    token = owner.post_ok("/auth/tokens", {"name": "found", "role": "Admin"})["token"]
    program = Api(
        http=httpx.Client(base_url=sandbox.url, headers={"Authorization": f"Bearer {token}"}, trust_env=False)
    )
    requests: list[tuple[str, str, Json | None]] = [
        ("GET", "/users", None),
        ("GET", f"/users/{user_id}", None),
        ("POST", "/users/invite", {"email": "lasting@example.com", "role": "Admin"}),
        ("PATCH", f"/users/{user_id}/role", {"role": "Admin"}),
        ("POST", f"/users/{user_id}/disable", None),
        ("POST", f"/users/{user_id}/enable", None),
        ("DELETE", f"/users/{user_id}", None),
        ("POST", "/auth/tokens", {"name": "another", "role": "Admin"}),
        ("GET", f"/auth/tokens/{other['id']}", None),
        ("DELETE", f"/auth/tokens/{other['id']}", None),
    ]
    with program.http:
        answers = [(method, path, program.call(method, path, body)) for method, path, body in requests]
    return [f"{method} {path}" for method, path, answer in answers if answer.status_code < 400], len(answers)
