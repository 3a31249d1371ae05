"""Headgate in its own process, for tests over HTTP: python -m tests.support.apps.sandbox_process PORT.

A process has one environment and one store, so other tests and this Headgate must not share theirs. The
format of its commands: see `process_commands`.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from infra.local.app.runner import Runner
from tests.support.apps.cheap_passwords import cheap_passwords
from tests.support.apps.process_commands import Commands, serve
from tests.support.hostile.sealed_network import seal


def _fire(runner: Runner, command: Mapping[str, str]) -> Any:
    return runner.fire(command["schedule"])


def _make_user(_: Runner, command: Mapping[str, str]) -> str:
    """Through the stores: an invite for each user of each test would take the time of two hashes."""
    from chalicelib.domain.access import Role
    from chalicelib.domain.accounts.user import User, UserStatus
    from chalicelib.kit.clock import utc_now
    from chalicelib.kit.ids import new_id
    from chalicelib.kit.masking import Secret
    from chalicelib.secrets.passwords import hash_password
    from chalicelib.stores.transaction import Transaction
    from chalicelib.wiring import services

    now = utc_now()
    user = User(
        id=new_id(),
        email=command["email"],
        role=Role(command["role"]),
        status=UserStatus(command["status"]),
        password_hash=hash_password(Secret(command["password"])),
        created_at=now,
        updated_at=now,
    )
    transaction = Transaction()
    services().stores.accounts.users.put_new(transaction, user)
    transaction.commit()
    return user.id


def _change_user(_: Runner, command: Mapping[str, str]) -> None:
    from chalicelib.domain.access import Role
    from chalicelib.domain.accounts.user import UserStatus
    from chalicelib.stores.transaction import Transaction
    from chalicelib.wiring import services

    users = services().stores.accounts.users
    user = users.get(command["id"])
    transaction = Transaction()
    users.change(transaction, user, replace(user, role=Role(command["role"]), status=UserStatus(command["status"])))
    transaction.commit()


def _seal(_: Runner, __: Mapping[str, str]) -> None:
    seal()


def _age_sessions(_: Runner, command: Mapping[str, str]) -> None:
    from chalicelib.domain.accounts.user import ABSOLUTE
    from chalicelib.stores.accounts.sessions import SessionRow

    for row in SessionRow.scan(SessionRow.user_id == command["id"]):
        row.update([SessionRow.created_at.set(row.created_at - ABSOLUTE)])


def _seed_drafts(_: Runner, command: Mapping[str, str]) -> None:
    """Drafts of pipelines, which no tick looks at."""
    from chalicelib.domain.observation import DesiredState
    from chalicelib.wiring import services
    from tests.bench.seeds import connector_names, pipeline_rows, put_rows

    names = dict.fromkeys(connector_names(int(command["count"])), "")
    ends = {"source_id": command["source_id"], "desired_state": DesiredState.DRAFT}
    put_rows(pipeline_rows(services().stores.resources.pipelines, command["connect_cluster_id"], names, **ends))


COMMANDS: Commands = {
    "seed_drafts": _seed_drafts,
    "seal": _seal,
    "age_sessions": _age_sessions,
    "fire": _fire,
    "make_user": _make_user,
    "change_user": _change_user,
}


if __name__ == "__main__":
    with cheap_passwords():
        serve(int(sys.argv[1]), COMMANDS)
