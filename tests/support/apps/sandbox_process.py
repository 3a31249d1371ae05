"""Headgate in its own process, for tests over HTTP: python -m tests.support.apps.sandbox_process PORT.

A process has one environment and one store, so other tests and this Headgate must not share theirs. The
format of its commands: see `process_commands`.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
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
    from chalicelib.stores.accounts.sessions import SessionRow

    by = timedelta(seconds=float(command["seconds"]))
    for row in SessionRow.scan(SessionRow.user_id == command["id"]):
        row.update([SessionRow.created_at.set(row.created_at - by), SessionRow.last_seen_at.set(row.last_seen_at - by)])


def _serve_console(_: Runner, command: Mapping[str, str]) -> None:
    from chalicelib.api.framework import console

    console._FOLDER = Path(command["folder"])


def _seed_drafts(_: Runner, command: Mapping[str, str]) -> None:
    """Drafts of pipelines, which no tick looks at."""
    from chalicelib.domain.observation import DesiredState
    from chalicelib.wiring import services
    from tests.bench.seeds import connector_names, pipeline_rows, put_rows

    names = dict.fromkeys(connector_names(int(command["count"])), "")
    ends = {"source_id": command["source_id"], "desired_state": DesiredState.DRAFT}
    put_rows(pipeline_rows(services().stores.resources.pipelines, command["connect_cluster_id"], names, **ends))


def _seed_histories(_: Runner, command: Mapping[str, str]) -> None:
    """A sample of each of the last minutes; those that are there stay."""
    from chalicelib.domain.monitoring.history import HistoryKind, Series, metric_sample
    from chalicelib.kit.clock import utc_now
    from chalicelib.wiring import services

    histories, now = services().stores.monitoring.histories, utc_now()
    for minute in range(int(command["minutes"])):
        at = now - timedelta(minutes=minute)
        metrics = {one: metric_sample(1_000 + minute, 10.0 + minute) for one in command["ids"].split(",")}
        histories.add(Series(HistoryKind.METRICS, command["connect_cluster_id"]), at, metrics)
        histories.add(
            Series(HistoryKind.LOG, command["source_id"]), at, {command["source_id"]: (minute << 20, 1 << 30)}
        )


COMMANDS: Commands = {
    "seed_histories": _seed_histories,
    "seed_drafts": _seed_drafts,
    "seal": _seal,
    "serve_console": _serve_console,
    "age_sessions": _age_sessions,
    "fire": _fire,
    "make_user": _make_user,
    "change_user": _change_user,
}


if __name__ == "__main__":
    with cheap_passwords():
        serve(int(sys.argv[1]), COMMANDS)
