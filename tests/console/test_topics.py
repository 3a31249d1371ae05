"""The page of a topic: who writes it, and who reads it."""

from playwright.sync_api import expect

from tests.console.console import Console, settle


def test_a_topic_names_the_pipeline_that_writes_it_and_the_deliveries_that_read_it(console: Console) -> None:
    sandbox = console.sandbox
    pipeline, destination = sandbox.running_pipeline(), sandbox.new_destination()
    read, unread = pipeline["topics"]
    body = sandbox.delivery_body(pipeline, mappings=[sandbox.mapping(read)])
    delivery = sandbox.admin.post_ok(f"/destinations/{destination['id']}/deploy", body)
    for topic, reader in ((read, delivery["name"]), (unread, "no delivery")):
        with console.signed_in(route=f"topics/{topic}?cluster_id={sandbox.stream['id']}") as opened:
            settle(opened)
            main = opened.page.locator("main")
            expect(main.get_by_role("link", name=pipeline["name"], exact=True)).to_be_visible()
            expect(main.get_by_text(reader, exact=True)).to_be_visible()
            assert opened.all_faults() == []
