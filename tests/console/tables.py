"""Check 13: ten tables of thousands are chosen by name, with a processor that is slowed four times."""

from playwright.sync_api import Page, expect

from tests.console.console import Console, settle
from tests.console.figures import Figure, at_most, none_of
from tests.console.many import SLOWED, keystrokes, p95
from tests.support.apps.sandbox import Sandbox
from tests.support.chromium import SECONDS, Visit

CHOSEN = 10
_PASSWORD = "a role of many tables"
_DISCOVERY_SECONDS = 400.0
_CHANGES = 20


def many_tables(console: Console, *, count: int = 5_000) -> list[Figure]:
    """Actions for each table; what is chosen after changes of the filter; letters typed into the filter."""
    source_id = source_of(console.sandbox, count)
    with console.signed_in() as opened:
        page = opened.page
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        console.go(opened, f"start?step=tables&source={source_id}")
        discover(page, count)
        settle(opened)
        names = [f"mart.table_{n:04}" for n in range(1, count, count // CHOSEN)][:CHOSEN]
        actions = max(choose(page, name) for name in names)
        for change in range(_CHANGES):
            search(page, f"table_{change:02}")
        lost = [name for name in names if not is_chosen(page, name)]
        search(page, "")
        chosen = page.get_by_text(f"{CHOSEN} tables chosen").count()
        taken = keystrokes(page, "mart.table_01")
        assert opened.all_faults() == []
    return [
        at_most(f"13 actions for each of {CHOSEN} tables out of {count}", actions, 3),
        none_of(f"13 tables that are no longer chosen after {_CHANGES} changes of the filter", lost),
        at_most("13 difference of the number that is shown as chosen", float(chosen != 1), 0),
        at_most("13 from a letter in the filter to its picture, 95th percentile", p95(taken), 100, "ms"),
    ]


def open_preview(console: Console, opened: Visit, table: str) -> None:
    """The step of Start that previews a pipeline of the sandbox's source, with this table."""
    console.go(opened, f"start?step=tables&source={console.sandbox.source['id']}")
    choose(opened.page, table)
    console.go(opened, preview_step(console.sandbox))


def preview_step(sandbox: Sandbox) -> str:
    """The route of the same step, whatever is chosen."""
    clusters = f"stream={sandbox.stream['id']}&connect={sandbox.connect['id']}"
    return f"start?step=preview&source={sandbox.source['id']}&{clusters}"


def source_of(sandbox: Sandbox, count: int) -> str:
    """The id of a source whose database has so many tables, which nobody has discovered."""
    role = sandbox.new_role("many_tables", _PASSWORD)
    with sandbox.postgresql.connect(role) as admin:
        # In parts: each table that a transaction makes is a lock.
        for first in range(1, count, 500):
            last = min(first + 499, count - 1)
            table = "CREATE TABLE mart.table_%s (id bigint PRIMARY KEY, note text)"
            each = f"EXECUTE format('{table}', lpad(n::text, 4, '0'))"
            admin.execute(f"DO $$ BEGIN FOR n IN {first}..{last} LOOP {each}; END LOOP; END $$".encode())
    body = sandbox.source_body(config=sandbox.config(database=role, username=role), credentials={"password": _PASSWORD})
    return str(sandbox.admin.post_ok("/sources", body)["id"])


def discover(page: Page, count: int) -> None:
    """Let the console discover the tables, and wait until it shows that all were found."""
    page.get_by_role("button", name="Discover the tables").click()
    page.get_by_text(f"Tables: {count:,}, ").first.wait_for(timeout=_DISCOVERY_SECONDS * 1000)


def search(page: Page, text: str) -> None:
    """Type into the filter, and wait for the list that it finds."""
    page.get_by_role("searchbox").first.fill(text)
    expect(page.locator("tbody tr").first).to_contain_text(text or "table_0001", timeout=SECONDS * 1000)


def choose(page: Page, name: str) -> int:
    """Choose a table by its name; how many actions that took."""
    search(page, name)
    box = page.get_by_role("checkbox", name=name, exact=True)
    box.check()
    expect(box).to_be_checked()
    return 2


def is_chosen(page: Page, name: str) -> bool:
    search(page, name)
    box = page.get_by_role("checkbox", name=name, exact=True)
    return box.is_checked()
