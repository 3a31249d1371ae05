"""The demonstration of `infra/run`: the main job once, through the REST API alone, each step checked.

What Headgate does not do is done directly, as the owners of the servers would: two databases with roles and rows are
made, and the broker, Connect and both databases are read to check what Headgate reports.
"""

import time
from typing import TYPE_CHECKING

from infra.local.app.addresses import StackAddresses
from infra.local.demo import alerting, capture, control, delivery
from infra.local.demo.api import Api
from infra.local.demo.report import Report, Untrue, print_lines
from infra.local.demo.run import Run
from infra.local.doubles.notification_receivers import NotificationReceiver

if TYPE_CHECKING:
    from infra.local.doubles import Doubles

TRUE, NOT_TRUE = 0, 1


def run(
    *,
    url: str,
    admin_email: str,
    admin_password: str,
    stack: StackAddresses,
    messages: NotificationReceiver,
    doubles: "Doubles | None" = None,
    once: bool = False,
) -> int:
    """Does the main job and prints what was observed: 0 when every step was true, 1 when one was not.

    With `once` everything that it made is removed at the end; without, it stays for a person to look at, and the next
    demonstration removes it. `doubles` are those of the sandbox.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime()).replace("-", "_")
    report, api = Report(), Api(url, correlation_id=f"demo-{stamp}")
    under_way = Run(api=api, report=report, stack=stack, doubles=doubles, messages=messages, stamp=stamp)
    print_lines("", f"The main job, step by step, through {url}/api/v1", *(_SANDBOX if doubles else ()), "")
    try:
        _steps(under_way, admin_email, admin_password, once)
    except Untrue:
        print_lines("", f"step {report.steps} was not true ({report.seconds:.0f} s)")
        return NOT_TRUE
    finally:
        api.close()
    print_lines("", f"all {report.steps} steps were true ({report.seconds:.0f} s)")
    if not once:
        _print_next_steps(under_way, url, admin_email)
    return TRUE


_SANDBOX = (
    "In the sandbox Kafka and Connect are doubles, so no row moves here: that rows arrive, and equal, is shown by",
    "--stack real. All else is as there: PostgreSQL, every check, every call, every state and every record.",
)


def _steps(under_way: Run, email: str, password: str, once: bool) -> None:
    _capture(under_way, email, password)
    _deliver(under_way)
    _control(under_way)
    if once:
        control.delete_pipeline(under_way)
        capture.clear(under_way, "Remove everything else that this run made")
    control.check_answers_for_passwords(under_way)


def _capture(under_way: Run, email: str, password: str) -> None:
    capture.sign_in(under_way, email, password)
    capture.clear(under_way)
    capture.make_databases(under_way)
    capture.register_source(under_way)
    capture.discover(under_way)
    capture.judge_source(under_way)
    capture.register_clusters(under_way)
    capture.preview_pipeline(under_way)
    capture.create_pipeline(under_way)
    capture.deploy_pipeline(under_way)
    capture.fill_topics(under_way)


def _deliver(under_way: Run) -> None:
    delivery.register_destination(under_way)
    delivery.preview_delivery(under_way)
    delivery.deploy_delivery(under_way)
    if not under_way.sandbox:
        delivery.compare_snapshot(under_way)
        delivery.change(under_way)
    delivery.show_config(under_way)


def _control(under_way: Run) -> None:
    control.pause_pipeline(under_way)
    control.resume_pipeline(under_way)
    control.pause_destination(under_way)
    control.restart(under_way)
    alerting.register_channel(under_way)
    alerting.break_delivery(under_way)
    alerting.repair_delivery(under_way)
    control.show_status(under_way)
    control.show_overview(under_way)
    control.show_audit(under_way)


def _print_next_steps(under_way: Run, url: str, email: str) -> None:
    print_lines(
        "",
        "Everything keeps running. Sign in with the password that was printed at the start, and look around:",
        f"""  curl -s -c cookies -H 'Content-Type: application/json' {url}/api/v1/auth/login \\
       -d '{{"email": "{email}", "password": "..."}}'""",
        f"  curl -s -b cookies {url}/api/v1{under_way.pipeline_path}",
        f"  curl -s -b cookies {url}/api/v1{under_way.delivery_path}/status",
        f"  {url}/docs shows every route; the source is the database {under_way.source_database.name},",
        f"  the target {under_way.target_database.name}. README.md builds a first pipeline of your own.",
    )
