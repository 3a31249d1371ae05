"""Checks 1 and 4: the first load over a slow line, and the build."""

import json
import time

from infra.local.stack.layout import ROOT
from tests.console.console import Console
from tests.console.figures import Figure, at_most
from tests.support.chromium import visit

LIMIT_KIB = 120.0
_SOURCES = ROOT / "infra" / "console"
MAX_TYPESCRIPT, MAX_CSS = 9_000, 1_500
_SLOW = {"offline": False, "latency": 100, "downloadThroughput": 500_000, "uploadThroughput": 500_000}
"""4 Mbit/s in both directions, and 100 ms."""


def first_load(console: Console) -> list[Figure]:
    """Compressed size, requests before data, and the time until somebody can sign in, with a throttled processor."""
    with visit(console.browser, console.url) as opened:
        session = opened.page.context.new_cdp_session(opened.page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", _SLOW)
        session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
        began = time.monotonic()
        opened.page.goto(f"{console.url}/console")
        opened.page.get_by_label("E-mail").wait_for()
        seconds = time.monotonic() - began
        files = [response for response in opened.responses if "/api/" not in response.url]
        size = sum(response.request.sizes()["responseBodySize"] for response in files) / 1024
        return [
            at_most("1 size of the page, its script and its styles, as sent", size, LIMIT_KIB, "KiB"),
            at_most("1 requests before data", len(files), 3),
            at_most(
                "1 time until somebody can sign in (4 Mbit/s, 100 ms, processor slowed 4 times)", seconds, 1.5, "s"
            ),
        ]


def build(_: Console) -> list[Figure]:
    """How many packages the console is made from; that its build gives the same bytes is a part of the suite."""
    declared = json.loads((_SOURCES / "package.json").read_text())
    locked = json.loads((_SOURCES / "package-lock.json").read_text())["packages"]
    run_time = {name for name, entry in locked.items() if name and not entry.get("dev")}
    return [
        at_most("4 packages declared", len(declared["dependencies"]) + len(declared["devDependencies"]), 10),
        at_most("4 packages at run time, with theirs", len(run_time), 6),
        at_most("4 packages locked for this kind of machine", _installed(locked), 60),
        at_most("own lines of TypeScript", _lines("*.ts*"), MAX_TYPESCRIPT),
        at_most("own lines of CSS", _lines("*.css"), MAX_CSS),
    ]


def _lines(pattern: str) -> int:
    own = [path for path in (_SOURCES / "src").rglob(pattern) if "generated" not in path.parts]
    return sum(len(path.read_text().splitlines()) for path in own)


def _installed(locked: dict[str, dict[str, object]]) -> int:
    """Without the binaries for other systems, which are optional."""
    return sum(1 for name, entry in locked.items() if name and not entry.get("optional"))
