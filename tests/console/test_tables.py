"""The choice of tables in the first pipeline's way: out of many, by name, kept while filters change."""

from playwright.sync_api import Page, expect

from tests.console.console import Console, settle
from tests.console.tables import choose, discover, is_chosen, search, source_of

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


def test_a_column_with_an_issue_is_left_out_of_the_pipeline_and_can_be_taken_back(console: Console) -> None:
    sandbox = console.sandbox
    with console.signed_in() as opened:
        page = opened.page
        console.go(opened, f"start?step=tables&source={sandbox.source['id']}")
        choose(page, "shop.paths")
        page.locator("tbody summary").first.click()
        page.get_by_role("button", name="Leave paths.around out").click()
        expect(page.get_by_text("1 column is left out")).to_be_visible()
        clusters = f"stream={sandbox.stream['id']}&connect={sandbox.connect['id']}"
        console.go(opened, f"start?step=preview&source={sandbox.source['id']}&{clusters}")
        left = {"schema_name": "shop", "table_name": "paths", "column_name": "around"}
        assert previewed_without(page) == [left]
        page.get_by_role("button", name="Capture shop.paths.around after all").click()
        assert previewed_without(page) == []
        assert opened.all_faults() == []


def previewed_without(page: Page) -> list[object]:
    """The columns that are left out of the pipeline that the page previews."""
    with page.expect_response("**/pipelines/preview") as answer:
        page.get_by_role("button", name="Preview").click()
    assert answer.value.status == 200
    return list(answer.value.request.post_data_json["options"]["exclude_columns"])
