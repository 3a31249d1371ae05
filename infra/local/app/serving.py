"""Headgate on a stack: which is started in what order, and what is told when it serves."""

import base64
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infra.local.app import startup_lines as announcement
from infra.local.app.addresses import StackAddresses
from infra.local.app.environment import Keys, environment
from infra.local.app.first_admin import DEFAULT_EMAIL, FirstAdmin, Keeper, master_key
from infra.local.app.progress import say
from infra.local.process.processes import Server
from infra.local.stack import real_stack, sandbox_stack
from infra.local.stack.folders import Folders
from infra.local.stack.kept_secrets import kept_secret
from infra.local.stack.layout import shown, state_folder

if TYPE_CHECKING:
    from chalice.app import Chalice

    from infra.local.app.runner import Runner

SHOWN_AGAIN_BY = ".headgate/venv/bin/python -m infra.local.app.first_admin"


@dataclass(frozen=True, kw_only=True)
class Serving:
    """A run that serves: Headgate and its stack."""

    url: str
    admin: FirstAdmin
    addresses: StackAddresses
    servers: Sequence[Server]
    sandbox: bool


def on_real_stack(url: str, port: int, ends: ExitStack) -> Serving:
    """Starts the real stack and Headgate; `ends` gets what has to be ended. Raises SetupMissing or ServerFailed."""
    state = state_folder("real")
    keys = Keys(
        master_key=master_key(state), service_credential=_credential() or kept_secret(state / "service-credential")
    )
    keeper = Keeper(state, keys.master_key)
    admin = keeper.first_admin(os.environ)
    stack = ends.enter_context(
        real_stack.start(state, headgate_url=url, service_credential=keys.service_credential, connect_later=True)
    )
    runner = _start_headgate(state, environment(admin, keys, stack.addresses), port, ends, sandbox=False)
    # Last: connectors that Connect remembers ask Headgate for their secrets at once.
    stack.connect.start()
    # What an earlier run left open is looked at now, and not when the schedule first comes round in a minute.
    runner.fire("dispatch")
    tell = admin.made_here and not keeper.was_told()
    _announce(url, admin, stack.addresses, tell=tell)
    if tell:
        keeper.note_told()
    elif admin.made_here:
        say(f"the password of {admin.email} was told by an earlier run; shown again by: {SHOWN_AGAIN_BY}")
    return Serving(url=url, admin=admin, addresses=stack.addresses, servers=stack.servers, sandbox=False)


def on_sandbox(url: str, port: int, ends: ExitStack) -> Serving:
    """Starts the sandbox and Headgate, which forgets everything at the end, keys and users included."""
    keys = Keys(
        master_key=os.environ.get("HEADGATE_MASTER_KEY") or base64.b64encode(os.urandom(32)).decode(),
        service_credential=_credential() or secrets.token_urlsafe(24),
    )
    admin = _fresh_admin(os.environ)
    state = state_folder("sandbox")
    stack = ends.enter_context(sandbox_stack.start(state, headgate_url=url, service_credential=keys.service_credential))
    _start_headgate(state, environment(admin, keys, stack.addresses), port, ends, sandbox=True)
    _announce(url, admin, stack.addresses, tell=admin.made_here)
    return Serving(url=url, admin=admin, addresses=stack.addresses, servers=stack.servers, sandbox=True)


def _credential() -> str | None:
    return os.environ.get("HEADGATE_SERVICE_CREDENTIAL") or None


def _fresh_admin(variables: Mapping[str, str]) -> FirstAdmin:
    given = variables.get("HEADGATE_ADMIN_PASSWORD")
    return FirstAdmin(
        email=variables.get("HEADGATE_ADMIN_EMAIL") or DEFAULT_EMAIL,
        password=given or secrets.token_urlsafe(18),
        made_here=not given,
    )


def _start_headgate(
    state: Path, variables: Mapping[str, str], port: int, ends: ExitStack, *, sandbox: bool
) -> "Runner":
    # Only now: importing the application reads the environment, and takes its time.
    from infra.local.app.runner import Runner, load_app
    from infra.local.process.logs import logs_in

    log = Folders(state).log("headgate")

    def load() -> "Chalice":
        app = load_app()
        # Not earlier: Chalice sets up a logger of its app's name anew when that does not write to standard output.
        ends.enter_context(logs_in(log))
        return app

    runner = Runner(environment=variables, port=port, sandbox=sandbox, load=load)
    runner.start()
    ends.callback(runner.stop)
    say(f"Headgate is up; its log is {shown(log)}")
    return runner


def _announce(url: str, admin: FirstAdmin, addresses: StackAddresses, *, tell: bool) -> None:
    print(*announcement.lines(url, admin.email, admin.password if tell else None, addresses), sep="\n", flush=True)
