"""Starts Headgate and its stack in the right order, and prints the addresses when it serves."""

import base64
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infra.local.app import messages, startup_lines
from infra.local.app.addresses import StackAddresses
from infra.local.app.environment import Keys, environment
from infra.local.app.errors import SetupMissing
from infra.local.app.first_admin import DEFAULT_EMAIL, FirstAdmin, PasswordFile, master_key
from infra.local.app.listening import TakenPort
from infra.local.app.progress import say
from infra.local.doubles.notification_receivers import NotificationReceiver
from infra.local.process.processes import ServerProcess
from infra.local.stack import real_stack, sandbox_stack
from infra.local.stack.folders import Folders
from infra.local.stack.kept_secrets import kept_secret
from infra.local.stack.layout import display_path, state_folder

if TYPE_CHECKING:
    from chalice.app import Chalice

    from infra.local.app.runner import Runner
    from infra.local.doubles import Doubles

PRINT_AGAIN = ".headgate/venv/bin/python -m infra.local.app.first_admin"


@dataclass(frozen=True, kw_only=True)
class Serving:
    """Headgate and its stack, while they serve. `receiver` gets the messages of a demonstration, if there is one;
    `doubles` are those of the sandbox.
    """

    url: str
    admin: FirstAdmin
    addresses: StackAddresses
    servers: Sequence[ServerProcess]
    receiver: NotificationReceiver | None
    doubles: "Doubles | None" = None


def on_real_stack(port: TakenPort, exit_stack: ExitStack, *, demo: bool, with_mysql: bool, with_minio: bool) -> Serving:
    """Starts the real stack, Headgate and the receiver of the demonstration; `exit_stack` stops them.

    Raises SetupMissing or ServerFailed.
    """
    state = state_folder("real")
    keys = Keys(
        master_key=master_key(state), service_credential=_credential() or kept_secret(state / "service-credential")
    )
    password_file = PasswordFile(state, keys.master_key)
    admin = password_file.first_admin(os.environ)
    stack = exit_stack.enter_context(
        real_stack.start(
            state,
            headgate_url=port.url,
            service_credential=keys.service_credential,
            connect_later=True,
            with_mysql=with_mysql,
            with_minio=with_minio,
        )
    )
    receiver = exit_stack.enter_context(messages.receiving(state)) if demo else None
    variables = {**environment(admin, keys, stack.addresses), **messages.settings(state, receiver)}
    runner = _start_headgate(state, variables, port, exit_stack, sandbox=False)
    # Last: connectors that Connect has stored ask Headgate for their secrets at once.
    stack.connect.start()
    # Operations that an earlier run left open are finished now, and not at the first scheduled tick.
    runner.fire("dispatch")
    with_password = admin.made_here and not password_file.was_printed()
    _print_addresses(port.url, admin, stack.addresses, with_password=with_password)
    if with_password:
        password_file.mark_printed()
    elif admin.made_here:
        say(f"the password of {admin.email} was printed by an earlier run; print it again with: {PRINT_AGAIN}")
    return Serving(url=port.url, admin=admin, addresses=stack.addresses, servers=stack.servers, receiver=receiver)


def on_sandbox(port: TakenPort, exit_stack: ExitStack, *, demo: bool, with_mysql: bool, with_minio: bool) -> Serving:
    """Starts the sandbox, Headgate and the receiver of the demonstration. Nothing is kept at the end, not even keys and
    users.
    """
    keys = Keys(
        master_key=os.environ.get("HEADGATE_MASTER_KEY") or base64.b64encode(os.urandom(32)).decode(),
        service_credential=_credential() or secrets.token_urlsafe(24),
    )
    admin = _fresh_admin(os.environ)
    state = state_folder("sandbox")
    started = sandbox_stack.start(
        state,
        headgate_url=port.url,
        service_credential=keys.service_credential,
        with_mysql=with_mysql,
        with_minio=with_minio,
    )
    stack = exit_stack.enter_context(started)
    receiver = exit_stack.enter_context(messages.receiving(state)) if demo else None
    variables = {**environment(admin, keys, stack.addresses), **messages.settings(state, receiver)}
    _start_headgate(state, variables, port, exit_stack, sandbox=True)
    _print_addresses(port.url, admin, stack.addresses, with_password=admin.made_here)
    return Serving(
        url=port.url,
        admin=admin,
        addresses=stack.addresses,
        servers=stack.servers,
        receiver=receiver,
        doubles=stack.doubles,
    )


def _credential() -> str | None:
    return os.environ.get("HEADGATE_SERVICE_CREDENTIAL") or None


def _fresh_admin(variables: Mapping[str, str]) -> FirstAdmin:
    password = variables.get("HEADGATE_ADMIN_PASSWORD")
    return FirstAdmin(
        email=variables.get("HEADGATE_ADMIN_EMAIL") or DEFAULT_EMAIL,
        password=password or secrets.token_urlsafe(18),
        made_here=not password,
    )


def _start_headgate(
    state: Path, variables: Mapping[str, str], port: TakenPort, exit_stack: ExitStack, *, sandbox: bool
) -> "Runner":
    # Only now: importing the application reads the environment, and takes its time.
    from chalicelib.settings import SettingInvalid, SettingMissing
    from infra.local.app.runner import Runner, load_app
    from infra.local.process.logs import logs_in

    log = Folders(state).log("headgate")

    def load() -> "Chalice":
        app = load_app()
        # Not earlier: Chalice replaces the handlers of its app's logger unless they write to standard output.
        exit_stack.enter_context(logs_in(log))
        return app

    runner = Runner(environment=variables, port=port.number, listen=port.hand_over, sandbox=sandbox, load=load)
    try:
        runner.start()
    except (SettingInvalid, SettingMissing) as error:
        raise SetupMissing(str(error)) from None
    exit_stack.callback(runner.stop)
    say(f"Headgate is up; its log is {display_path(log)}")
    return runner


def _print_addresses(url: str, admin: FirstAdmin, addresses: StackAddresses, *, with_password: bool) -> None:
    password = admin.password if with_password else None
    print(*startup_lines.lines(url, admin.email, password, addresses), sep="\n", flush=True)
    say(startup_lines.for_people(url))
