"""The demonstration of `infra/run`: the main job once, through the REST API alone, each step checked.

What Headgate does not do is done directly, as the owners of the servers would: two databases with roles and rows are
made, and the broker, Connect and both databases are read to check what Headgate reports.
"""

import time
from typing import TYPE_CHECKING

from infra.local.app.addresses import StackAddresses
from infra.local.demo import alerting, capture, control, delivery, files, mysql
from infra.local.demo.api import Api
from infra.local.demo.report import Report, StepFailed, print_lines
from infra.local.demo.run import Run
from infra.local.doubles.notification_receivers import NotificationReceiver

if TYPE_CHECKING:
    from infra.local.doubles import Doubles

SUCCEEDED, FAILED = 0, 1


def run(
    *,
    url: str,
    admin_email: str,
    admin_password: str,
    stack: StackAddresses,
    messages: NotificationReceiver,
    doubles: "Doubles | None" = None,
) -> int:
    """Does the main job and prints each step: returns 0 when every step succeeded, 1 when a step failed.

    At the end it removes everything that it has made; after a step that failed all of it stays for a person to see, and
    the next demonstration removes it. `doubles` are those of the sandbox.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime()).replace("-", "_")
    report, api = Report(), Api(url, correlation_id=f"demo-{stamp}")
    demo = Run(api=api, report=report, stack=stack, doubles=doubles, messages=messages, stamp=stamp)
    print_lines("", f"The main job, step by step, through {url}/api/v1", *(_SANDBOX if doubles else ()), "")
    try:
        _steps(demo, admin_email, admin_password)
    except StepFailed:
        print_lines("", f"step {report.steps} was not true ({report.seconds:.0f} s)")
        return FAILED
    finally:
        api.close()
    print_lines("", f"all {report.steps} steps were true ({report.seconds:.0f} s)")
    return SUCCEEDED


_SANDBOX = (
    "In the sandbox Kafka and Connect are doubles, so no row moves here: that rows arrive, and equal, is shown by",
    "--stack real. All else is as there: PostgreSQL, every check, every call, every state and every record.",
)


def _steps(demo: Run, email: str, password: str) -> None:
    _capture(demo, email, password)
    _deliver(demo)
    _control(demo)
    mysql.steps(demo)
    files.steps(demo)
    control.delete_pipeline(demo)
    capture.clear(demo, "Remove everything else that this run made")
    control.check_answers_for_passwords(demo)


def _capture(demo: Run, email: str, password: str) -> None:
    capture.sign_in(demo, email, password)
    capture.clear(demo)
    capture.make_databases(demo)
    capture.register_source(demo)
    capture.discover(demo)
    capture.judge_source(demo)
    capture.register_clusters(demo)
    capture.preview_pipeline(demo)
    capture.create_pipeline(demo)
    capture.deploy_pipeline(demo)
    capture.fill_topics(demo)


def _deliver(demo: Run) -> None:
    delivery.register_destination(demo)
    delivery.preview_delivery(demo)
    delivery.deploy_delivery(demo)
    if not demo.sandbox:
        delivery.compare_snapshot(demo)
        delivery.change(demo)
    delivery.show_config(demo)


def _control(demo: Run) -> None:
    control.pause_pipeline(demo)
    control.resume_pipeline(demo)
    control.pause_destination(demo)
    control.restart(demo)
    alerting.register_channel(demo)
    alerting.break_delivery(demo)
    alerting.repair_delivery(demo)
    control.show_status(demo)
    control.show_overview(demo)
    control.show_audit(demo)


def print_next_steps(url: str, email: str) -> None:
    """For a run that goes on serving."""
    print_lines(
        "",
        "Nothing of the demonstration is registered any more. Sign in with the password that was printed at the start:",
        f"""  curl -s -c cookies -H 'Content-Type: application/json' {url}/api/v1/auth/login \\
       -d '{{"email": "{email}", "password": "..."}}'""",
        f"  curl -s -b cookies {url}/api/v1/audit    shows what the demonstration has done,",
        f"  {url}/docs    shows every route. README.md builds a first pipeline of your own.",
    )
