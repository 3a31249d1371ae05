"""Check 8, the time to loss: what the dialog of a pause says, beside what the look at the source has found."""

import re
import time

from tests.console.acted_on import KINDS, TRACE
from tests.console.console import Console, settle
from tests.console.dialogs import open_dialog
from tests.console.figures import Figure, at_most
from tests.support.apps.sandbox import Json, Sandbox

_STATED = re.compile(r"changes are lost in (?:(\d+) h )?(\d+) min")
_LOG_SECONDS = 150
"""Two looks at the source, with at least half a minute of growth between them."""
_MEGABYTE = "SELECT pg_logical_emit_message(false, 'growth', repeat('x', 1048576))"


def time_to_loss(console: Console) -> list[Figure]:
    """Nobody reads the slot, and the source writes a megabyte a second: how far off the stated time is."""
    sandbox = console.sandbox
    pipeline = sandbox.running_pipeline()
    sandbox.doubles.connect_double.fail_task(pipeline["connector_name"], TRACE, failing_restarts=1_000)
    found = _grow(sandbox, pipeline)
    with console.signed_in(route=f"pipelines/{pipeline['id']}") as opened:
        settle(opened)
        operation = KINDS["pipeline"].actions["pause"]
        dialog = open_dialog(opened, opened.page.locator(f'[data-operation="{operation}"]').first)
        stated = _STATED.search(dialog.element.inner_text())
        assert stated, "the dialog says nothing about the loss"
        guardian = sandbox.admin.get_ok(f"/pipelines/{pipeline['id']}/status")["log"]["seconds_to_loss"]
    seconds = 3_600 * int(stated[1] or 0) + 60 * int(stated[2])
    return [
        at_most("8 stated time to loss beside the guardian's", _off(seconds, guardian), 10, "%"),
        at_most("8 stated time to loss beside what the server writes", _off(seconds, found), 10, "%"),
    ]


def _off(seconds: float, expected: float) -> float:
    return 100 * abs(seconds - expected) / expected


def _grow(sandbox: Sandbox, pipeline: Json) -> float:
    """Writes until the time to loss is known; returns it by the server's own numbers."""
    path, slot = f"/pipelines/{pipeline['id']}/status", pipeline["options"]["slot_name"]
    left = f"SELECT safe_wal_size FROM pg_replication_slots WHERE slot_name = '{slot}'"
    with sandbox.postgresql.connect() as server:

        def safe() -> int:
            row = server.execute(left.encode()).fetchone()
            assert row
            return int(row[0])

        began, before = time.monotonic(), safe()
        while (log := sandbox.admin.get_ok(path)["log"]) is None or log["seconds_to_loss"] is None:
            assert time.monotonic() < began + _LOG_SECONDS, f"no time to loss is known: {log}"
            server.execute(_MEGABYTE.encode())
            time.sleep(1)
        rate = (before - safe()) / (time.monotonic() - began)
        return safe() / rate
