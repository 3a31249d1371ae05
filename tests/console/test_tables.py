"""What a first pipeline captures: tables out of many, kept while filters change; its columns; its publication."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.console.console import Console, axe_violations, settle
from tests.console.tables import choose, discover, is_chosen, open_preview, search, source_of

MANY = 510


def test_tables_behind_the_first_500_are_chosen_by_name_and_stay_chosen(console: Console) -> None:
    source_id = source_of(console.sandbox, MANY)
    with console.signed_in() as opened:
        page = opened.page
        console.go(opened, f"start?step=tables&source={source_id}")
        discover(page, MANY)
        settle(opened)
        names = ["mart.table_0001", "mart.table_0509"]
        for name in names:
            choose(page, name)
        for text in ("table_02", "table_0301", ""):
            search(page, text)
        expect(page.get_by_text("2 tables chosen")).to_be_visible()
        assert all(is_chosen(page, name) for name in names)
        assert opened.all_faults() == []
    assert console.sandbox.admin.get_ok(f"/sources/{source_id}")["tables"] == MANY


def test_the_verdict_on_a_table_names_the_column_that_is_not_captured_as_it_is(console: Console) -> None:
    with console.signed_in() as opened:
        page = opened.page
        console.go(opened, f"start?step=tables&source={console.sandbox.source['id']}")
        search(page, "shop.paths")
        page.locator("tbody summary").first.click()
        expect(page.locator("tbody li").filter(has_text="around").first).to_contain_text("circle")
        assert axe_violations(opened) == []
        assert opened.all_faults() == []


def test_the_preview_of_a_pipeline_names_the_column_of_a_warning(console: Console) -> None:
    with console.signed_in() as opened:
        page = opened.page
        open_preview(console, opened, "shop.paths")
        expect(page.get_by_text("1 warning about a column")).to_be_visible()
        expect(page.get_by_role("listitem").filter(has_text="shop.paths.around").first).to_contain_text("circle")
        assert axe_violations(opened) == []
        assert opened.all_faults() == []


def test_a_publication_that_somebody_has_made_is_used(console: Console) -> None:
    sandbox = console.sandbox
    publication = sandbox.name("made").replace("-", "_")
    with sandbox.postgresql.connect(sandbox.source["config"]["database_name"]) as admin:
        admin.execute(f"CREATE PUBLICATION {publication} FOR TABLE shop.paths".encode())
    with console.signed_in() as opened:
        page = opened.page
        open_preview(console, opened, "shop.paths")
        page.get_by_label("Publication that exists already").fill(publication)
        options = previewed(page)
        assert (options["publication_mode"], options["publication_name"]) == ("existing", publication)
        assert opened.all_faults() == []


def previewed(page: Page) -> dict[str, Any]:
    """The options of the pipeline that the page previews."""
    with page.expect_response("**/pipelines/preview") as answer:
        page.get_by_role("button", name="Preview").click()
    assert answer.value.status == 200
    return dict(answer.value.request.post_data_json["options"])
