"""The steps of Start: what each needs before the next one, and what stays of what was chosen."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.console.acted_on import KINDS
from tests.console.console import Console, settle
from tests.console.dialogs import open_dialog
from tests.console.screens import SCREENS
from tests.console.tables import choose, open_preview, preview_step
from tests.support.apps.sandbox import PASSWORD
from tests.support.apps.sandbox_stack import ADMIN

_STORED = "JSON.stringify(sessionStorage)"


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


def test_what_was_chosen_stays_in_the_tab_until_somebody_signs_out(console: Console) -> None:
    with console.signed_in(route=f"start?step=tables&source={console.sandbox.source['id']}") as opened:
        page = opened.page
        choose(page, "shop.paths")
        page.reload()
        expect(page.get_by_text("1 table chosen.")).to_be_visible()
        assert "paths" in page.evaluate(_STORED)
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("button", name="Sign in").wait_for()
        assert "paths" not in page.evaluate(_STORED)
        assert opened.all_faults() == []


def test_name_and_prefix_are_there_and_the_buttons_say_what_they_make(console: Console) -> None:
    sandbox = console.sandbox
    with console.signed_in() as opened:
        page = opened.page
        open_preview(console, opened, "shop.paths")
        name = page.get_by_label("Name of the pipeline")
        expect(name).to_have_value(sandbox.source["name"])
        name.fill("Shop orders")
        expect(page.get_by_label("Prefix of the topics")).to_have_value("shop_orders")
        page.get_by_role("button", name="Preview the pipeline Shop orders").click()
        expect(page.get_by_role("button", name="Create the pipeline Shop orders")).to_be_visible()
        assert opened.all_faults() == []


def test_all_tables_are_those_that_can_be_captured(console: Console) -> None:
    sandbox = console.sandbox
    source = sandbox.admin.get_ok(f"/sources/{sandbox.source['id']}")
    assert source["cdc_ready_tables"] < source["tables"]
    with console.signed_in() as opened:
        page = opened.page
        console.go(opened, f"start?step=tables&source={source['id']}")
        page.get_by_role("button", name="Choose all that can be captured").click()
        expect(page.get_by_text(f"{source['cdc_ready_tables']} tables chosen.")).to_be_visible()
        expect(page.get_by_role("checkbox", name="shop.lines")).not_to_be_checked()
        page.get_by_role("checkbox", name="shop.lines").check()
        expect(page.get_by_text("1 of them cannot be captured as it is.")).to_be_visible()
        assert opened.all_faults() == []


@pytest.mark.parametrize(
    ("kind", "words"), [("pipelines", "New pipeline, step by step"), ("deliveries", "New delivery")]
)
def test_a_list_leads_those_on_who_may_make_another_one(console: Console, kind: str, words: str) -> None:
    _, reader = console.sandbox.make_user("Viewer")
    for email, links in {ADMIN.email: 1, reader: 0}.items():
        with console.signed_in(email=email, password=PASSWORD if email == reader else ADMIN.password) as opened:
            console.go(opened, SCREENS[kind](console.sandbox))
            expect(opened.page.locator("tbody tr").first).to_be_visible()
            expect(opened.page.get_by_role("link", name=words)).to_have_count(links)


def test_a_pipeline_that_exists_is_chosen_for_a_new_delivery(console: Console) -> None:
    sandbox = console.sandbox
    pipeline, destination = sandbox.pipeline, sandbox.new_destination()
    with console.signed_in(route=f"destinations/{destination['id']}") as opened:
        page = opened.page
        page.get_by_role("link", name="Deliver a pipeline to this destination").click()
        page.get_by_label("Pipeline", exact=True).select_option(label=pipeline["name"])
        expect(page.get_by_label("Destination", exact=True)).to_have_value(destination["id"])
        expect(page.get_by_label(f"Table for {pipeline['topics'][0]}")).to_be_visible()
        expect(page.get_by_role("link", name="1. Database")).to_contain_text("(done)")
        assert opened.all_faults() == []


def test_a_pipeline_leads_to_a_new_delivery_of_itself(console: Console) -> None:
    pipeline = console.sandbox.pipeline
    with console.signed_in(route=f"pipelines/{pipeline['id']}") as opened:
        opened.page.get_by_role("link", name="New delivery").click()
        expect(opened.page.get_by_label("Destination", exact=True)).to_be_visible()
        expect(opened.page.get_by_label("Pipeline", exact=True)).to_have_count(0)
        assert f"pipeline={pipeline['id']}" in opened.page.url


def test_nothing_looks_as_if_it_could_take_back_what_was_sent(console: Console) -> None:
    running = KINDS["pipeline"].states["running"](console.sandbox)
    with console.signed_in(route=running.route) as opened:
        page = opened.page
        settle(opened)
        dialog = open_dialog(opened, page.locator('[data-operation="restart_pipeline"]').first)
        # The answer does not come while somebody looks at the dialog.
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route("**/restart*", hold)
        dialog.element.locator('button[type="submit"]').click()
        expect(dialog.element.get_by_role("button", name="Working…")).to_be_visible()
        cancel = dialog.element.get_by_role("button", name="Cancel")
        expect(cancel).to_have_attribute("aria-disabled", "true")
        cancel.click(force=True)
        expect(dialog.element).to_be_visible()
        held[0].abort()
        expect(cancel).to_have_attribute("aria-disabled", "false")
