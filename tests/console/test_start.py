"""The steps of Start: what each needs before the next one, and what stays of what was typed."""

from playwright.sync_api import Page, expect

from tests.console.console import Console
from tests.console.tables import choose
from tests.console.test_tables import preview_step

_SECRET = "a password that is not kept"


def test_no_step_leads_on_before_it_has_what_the_next_one_needs(console: Console) -> None:
    sandbox = console.sandbox
    with console.signed_in(route="start") as opened:
        page = opened.page
        _leads_on(page, lacks="Choose or register a database first.")
        console.go(opened, f"start?step=tables&source={sandbox.source['id']}")
        _leads_on(page, lacks="Choose the tables first.")
        choose(page, "shop.paths")
        _leads_on(page, to="Clusters")
        console.go(opened, preview_step(sandbox))
        _leads_on(page, lacks="Create the pipeline first.")
        assert opened.all_faults() == []


def _leads_on(page: Page, *, to: str = "", lacks: str = "") -> None:
    button = page.get_by_role("button", name="Go on to")
    if to:
        expect(button).to_have_text(f"Go on to: {to}")
    else:
        expect(page.get_by_text(lacks, exact=True).last).to_be_visible()
        expect(button).to_have_count(0)


def test_what_was_typed_stays_when_the_step_is_left_but_for_secrets(console: Console) -> None:
    with console.signed_in(route="start") as opened:
        page = opened.page
        typed = {"Name": "shop", "Host": "db.example.com", "Database": "orders"}
        page.get_by_role("button", name="Register a source").click()
        for label, value in {**typed, "Password": _SECRET}.items():
            page.get_by_label(label, exact=True).fill(value)
        page.get_by_role("link", name="2. Ready?").click()
        page.get_by_role("button", name="Back to: Database").click()
        page.get_by_role("button", name="Register a source").click()
        for label, value in {**typed, "Password": ""}.items():
            expect(page.get_by_label(label, exact=True)).to_have_value(value)
        assert _SECRET not in page.evaluate("JSON.stringify(sessionStorage)")
        assert opened.all_faults() == []


def test_name_and_prefix_are_there_and_the_buttons_say_what_they_make(console: Console) -> None:
    sandbox = console.sandbox
    with console.signed_in() as opened:
        page = opened.page
        console.go(opened, f"start?step=tables&source={sandbox.source['id']}")
        choose(page, "shop.paths")
        console.go(opened, preview_step(sandbox))
        name = page.get_by_label("Name of the pipeline")
        expect(name).to_have_value(sandbox.source["name"])
        name.fill("Shop orders")
        expect(page.get_by_label("Prefix of the topics")).to_have_value("shop_orders")
        page.get_by_role("button", name="Preview the pipeline Shop orders").click()
        expect(page.get_by_role("button", name="Create the pipeline Shop orders")).to_be_visible()
        assert opened.all_faults() == []
