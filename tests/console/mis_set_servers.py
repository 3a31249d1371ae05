"""Check 6: for each check that fails on a mis-set server the page shows the fix; run as it is copied, it mends it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page

from tests.console.console import Console
from tests.console.figures import Figure, none_of
from tests.console.mis_set import MisSet, Opener, mysql_servers, postgresql_servers
from tests.support.chromium import Visit
from tests.support.databases.mysql import running_mysql
from tests.support.databases.postgresql import ORDERS
from tests.support.waiting import eventually

GREEN_SECONDS = 4.0
"""From a look at the page to the green check, on a machine that does nothing else."""
MAX_LOOKS = 3
"""For a while the server counts the connections of the reading before."""

PUBLICATION_FIELD = "Publication that exists already"
"""Of Start: a fix that mentions it needs a new pipeline as well."""

CLIPBOARD = ["clipboard-read", "clipboard-write"]
_STATEMENT = re.compile(r"^(ALTER|CREATE|GRANT|REVOKE|SET|DROP)\s[^\n]*;", re.MULTILINE)
_MADE = re.compile(r'^CREATE PUBLICATION "?(\w+)"? FOR TABLE')
_SHOWN = """
Object.fromEntries([...document.querySelectorAll("main ul.checks > li")].map((check) => [
  check.querySelector(":scope > strong").textContent,
  {
    outcome: check.querySelector(":scope > .state").textContent.trim(),
    codes: [...check.querySelectorAll("pre")].map((code) => code.textContent),
    words: check.querySelectorAll(":scope > p").length,
  },
]))
"""
_LOOK = "document.dispatchEvent(new Event('visibilitychange')); dispatchEvent(new Event('focus'))"
_VALUES = 2
"""The description of a check and its values are words, too."""


@dataclass(kw_only=True)
class Seen:
    """What was found, over all servers."""

    servers: int = 0
    failing: int = 0
    statements: int = 0
    later_looks: int = 0
    differing: list[str] = field(default_factory=list)
    without_fix: list[str] = field(default_factory=list)
    red: list[str] = field(default_factory=list)

    def figures(self, provider: str) -> list[Figure]:
        fixed, green = self.failing - len(self.without_fix), self.statements - len(self.red)
        later = f" ({self.later_looks} at a later look)" if self.later_looks else ""
        return [
            none_of(
                f"6 {provider}, {self.servers} servers: checks shown otherwise than the API has them", self.differing
            ),
            none_of(f"6 {provider}, failing checks with a fix {fixed} of {self.failing}; without", self.without_fix),
            none_of(f"6 {provider}, statements that made it green {green} of {self.statements}{later}; not", self.red),
        ]


def mis_set_servers(console: Console) -> list[Figure]:
    with running_mysql() as mysql:
        return [
            *look_at(console, postgresql_servers()).figures("PostgreSQL"),
            *look_at(console, mysql_servers(mysql)).figures("MySQL"),
        ]


def look_at(console: Console, servers: Mapping[str, Opener]) -> Seen:
    """Looks at each of them, and carries out what the page says."""
    seen = Seen()
    with console.signed_in(permissions=CLIPBOARD) as opened:
        for name, opener in servers.items():
            with opener(console.sandbox) as server:
                seen.servers += 1
                _look_at(console, opened, name, server, seen)
    return seen


def _look_at(console: Console, opened: Visit, name: str, server: MisSet, seen: Seen) -> None:
    of_pipeline = {"pipeline_id": server.pipeline["id"]} if server.pipeline else {}
    path = f"/sources/{server.source['id']}/cdc-readiness"
    report = console.sandbox.admin.get(path, params={"fresh": "true", **of_pipeline}).json()
    failing = {check["name"]: check for check in report["checks"] if check["status"] == "fail"}
    tab = f"?tab=readiness&pipeline={of_pipeline.get('pipeline_id', '')}"
    console.go(opened, f"sources/{server.source['id']}{tab}")
    opened.page.locator("details.group").first.wait_for()
    shown = {check for check, one in _shown(opened).items() if one["outcome"] == "fails"}
    if not failing or shown != failing.keys():
        seen.differing.append(f"{name}: {sorted(shown)} instead of {sorted(failing)}")
    for title, check in failing.items():
        _mend(console, opened, f"{name}, {title}", check, server, seen)


def _shown(opened: Visit) -> dict[str, Any]:
    """Each check on the page, by its name."""
    return dict(opened.page.evaluate(_SHOWN))


def _mend(console: Console, opened: Visit, what: str, check: Mapping[str, Any], server: MisSet, seen: Seen) -> None:
    seen.failing += 1
    shown = _shown(opened).get(check["name"], {"codes": [], "words": 0})
    has_statement = bool(_STATEMENT.search(check["recommended_action"] or ""))
    if has_statement != bool(shown["codes"]) or not (shown["codes"] or shown["words"] > _VALUES):
        seen.without_fix.append(f"{what}: {shown}")
    if not has_statement:
        return
    seen.statements += 1
    try:
        # Where there are two ways, the first one asks for another pipeline as well.
        if PUBLICATION_FIELD in check["recommended_action"] and len(shown["codes"]) == 1:
            looks = _mend_in_start(console, opened, check["name"], server)
        else:
            server.run(_copy(opened, check["name"], len(shown["codes"]) - 1))
            if server.restart and "restart" in check["recommended_action"]:
                server.restart()
            looks = _looks_until_green(opened, check["name"])
        seen.later_looks += looks - 1
    except Exception as error:  # noqa: BLE001 - whatever a server says of it is what is reported
        seen.red.append(f"{what}: {shown['codes']}: {str(error)[:300]}")


def _mend_in_start(console: Console, opened: Visit, check: str, server: MisSet) -> int:
    """Start refuses a new pipeline. The statement is run as it is copied there, and its publication named in Start; how
    often somebody came back before the check passed. Then the pipeline can be created.
    """
    page, name = opened.page, server.source["name"]
    clusters = f"stream={console.sandbox.stream['id']}&connect={console.sandbox.connect['id']}"
    console.go(opened, f"start?step=tables&source={server.source['id']}&{clusters}")
    page.get_by_role("checkbox", name=f"{ORDERS.schema_name}.{ORDERS.table_name}", exact=True).check()
    for step in ("Clusters", "Preview"):
        page.get_by_role("button", name=f"Go on to: {step}", exact=True).click()
    _create(page, name)
    copied = _copy(opened, check, 0)
    server.run(copied)
    page.get_by_label(PUBLICATION_FIELD).fill(_MADE.findall(copied)[0])
    looks = _looks_until_green(opened, check)
    _create(page, name)
    page.get_by_text("Step 6 of 7").wait_for()
    (created,) = parse_qs(urlsplit(page.url).fragment.partition("?")[2])["pipeline"]
    assert console.sandbox.admin.delete(f"/pipelines/{created}").status_code == 204
    return looks


def _create(page: Page, name: str) -> None:
    for verb in ("Preview", "Create"):
        page.get_by_role("button", name=f"{verb} the pipeline {name}", exact=True).click()


def _copy(opened: Visit, check: str, index: int) -> str:
    """What the button of a statement of the check puts on the clipboard."""
    item = opened.page.locator("main ul.checks > li").filter(has=opened.page.get_by_text(check, exact=True))
    item.locator(".code").nth(index).get_by_role("button").click()
    item.get_by_text("Copied").wait_for()
    return str(opened.page.evaluate("navigator.clipboard.readText()"))


def _looks_until_green(opened: Visit, check: str) -> int:
    """How often somebody came back to the page before the check passed. Raises AssertionError where it never did."""
    for look in range(1, MAX_LOOKS + 1):
        opened.page.evaluate(_LOOK)
        try:
            eventually(lambda: _shown(opened).get(check, {}).get("outcome") == "passes", seconds=GREEN_SECONDS)
        except AssertionError:
            if look == MAX_LOOKS:
                raise AssertionError(f"it is {_shown(opened).get(check)}") from None
        else:
            return look
    raise AssertionError("not reached")
