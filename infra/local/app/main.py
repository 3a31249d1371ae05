"""`infra/run`: starts a stack and Headgate on it, runs the demonstration, and serves until Ctrl-C.

Standard output has the machine-readable lines first and the demonstration after them; all else is on standard error.
The exit status is 0; 1 when a step of the demonstration failed; 2 when the run could not be set up; and 130, as
in shells, when it was interrupted before it served.
"""

import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack

from infra.local.app import arguments, listening, serving
from infra.local.app.arguments import Options
from infra.local.app.errors import ServerFailed, SetupMissing
from infra.local.app.progress import say
from infra.local.app.serving import Serving
from infra.local.doubles.notification_receivers import NotificationReceiver
from infra.local.process import interrupts
from infra.local.process.processes import report_ended
from infra.local.stack import java

NO_SETUP, INTERRUPTED = 2, 130


def main(argv: Sequence[str]) -> int:
    options = arguments.parse(argv)
    status = INTERRUPTED
    try:
        with interrupts.stop_on_signals() as interrupted, ExitStack() as exit_stack:
            began = time.monotonic()
            started = _start(options, exit_stack)
            say(f"ready after {time.monotonic() - began:.0f} s")
            receiver = started.receiver
            status = _demonstrate(started, receiver) if receiver else 0
            if not options.once:
                if receiver:
                    _print_next_steps(started)
                _serve(started, interrupted)
    except (SetupMissing, ServerFailed) as error:
        say(str(error))
        return NO_SETUP
    return status


def uses_sandbox(requested: str, missing: str | None) -> tuple[bool, str]:
    """Whether the sandbox is used, and why; `missing` is the reason why the real stack cannot run here.

    Raises SetupMissing when the real stack was asked for and cannot be had.
    """
    if requested != "auto":
        if requested == "real" and missing:
            raise SetupMissing(java.sentence(missing))
        return requested == "sandbox", f"{requested}, as asked"
    if missing:
        return True, f"sandbox, since {missing}"
    return False, f"real, since Java {java.OLDEST} or newer and Maven are here"


def _start(options: Options, exit_stack: ExitStack) -> Serving:
    port = listening.take(options.port)
    exit_stack.callback(port.close)
    sandbox, reason = uses_sandbox(options.stack, java.missing())
    say(f"stack: {reason}")
    start = serving.on_sandbox if sandbox else serving.on_real_stack
    return start(
        port,
        exit_stack,
        demo=options.demo,
        with_mysql=options.mysql,
        with_minio=options.minio,
    )


def _demonstrate(started: Serving, receiver: NotificationReceiver) -> int:
    from infra.local.demo import main_job

    admin = started.admin
    return main_job.run(
        url=started.url,
        admin_email=admin.email,
        admin_password=admin.password,
        stack=started.addresses,
        messages=receiver,
        doubles=started.doubles,
    )


def _print_next_steps(started: Serving) -> None:
    from infra.local.demo import main_job

    main_job.print_next_steps(started.url, started.admin.email)


def _serve(started: Serving, interrupted: threading.Event) -> None:
    say(f"serving at {started.url}, sign in as {started.admin.email}. Ctrl-C ends it.")
    report_ended(started.servers, interrupted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
