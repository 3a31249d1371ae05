"""Makes the pictures of the README: python -m tests.console.pictures

A pipeline whose delivery has failed on the first screen, and a step of the way to the first pipeline.
"""

from pathlib import Path

from infra.local.stack.layout import ROOT
from tests.console.console import Console, running_console
from tests.support.apps.sandbox import Sandbox
from tests.support.waiting import eventually

FOLDER = ROOT / "infra" / "pictures"
_SIZE = {"width": 1000, "height": 640}
_TRACE = "org.postgresql.util.PSQLException: ERROR: permission denied for table orders"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with running_console() as console:
        source = _broken_delivery(console.sandbox)
        _picture(console, "", FOLDER / "now.png")
        _picture(console, f"start?step=ready&source={source}", FOLDER / "start.png")


def _broken_delivery(sandbox: Sandbox) -> str:
    """The id of the source of a pipeline, whose delivery fails."""
    sandbox.cached("source", lambda: sandbox.admin.post_ok("/sources", sandbox.source_body(name="shop")))
    sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{sandbox.source['id']}/discover", status=202))
    pipeline = sandbox.running_pipeline(name="shop orders", topic_prefix="shop")
    destination = sandbox.new_destination(name="warehouse")
    body = sandbox.delivery_body(pipeline, name="orders to the warehouse")
    delivery = sandbox.admin.post_ok(f"/destinations/{destination['id']}/deploy", body)
    path = f"/deliveries/{delivery['id']}"
    eventually(lambda: sandbox.admin.get_ok(path)["observed_state"], lambda state: state == "RUNNING", seconds=40)
    sandbox.doubles.connect_double.fail_task(delivery["connector_name"], _TRACE, failing_restarts=9)
    eventually(lambda: sandbox.admin.get_ok("/monitoring/overview")["attention"], bool, seconds=90)
    return str(sandbox.source["id"])


def _picture(console: Console, route: str, path: Path) -> None:
    with console.signed_in(viewport=_SIZE) as opened:
        console.go(opened, route)
        opened.page.wait_for_timeout(1_000)
        opened.page.screenshot(path=path)


if __name__ == "__main__":
    main()
