"""The first screen: what needs a person."""

from playwright.sync_api import expect

from tests.console.console import Console, pass_seconds, settle, sign_in
from tests.support.apps.sandbox import PASSWORD


def test_the_first_screen_shows_what_there_is_without_a_fault(console: Console) -> None:
    pipeline = console.sandbox.new_pipeline()
    with console.signed_in() as opened:
        opened.page.get_by_role("heading", name="What there is").wait_for()
        opened.page.get_by_role("link", name=pipeline["name"]).first.wait_for()
        assert opened.all_faults() == []


def test_each_number_leads_to_the_list_of_what_it_counts(console: Console) -> None:
    assert console.sandbox.pipeline
    with console.signed_in() as opened:
        links = opened.page.locator("dl.counts a")
        links.first.wait_for()
        places = {links.nth(index).get_attribute("href") or "" for index in range(links.count())}
        assert {place.split("?")[0] for place in places} >= {"#/pipelines", "#/sources", "#/clusters"}
        for place in sorted(places):
            console.go(opened, place.removeprefix("#/"))
            expect(opened.page.get_by_text("There is nothing at this address")).to_have_count(0)
        assert opened.all_faults() == []


def test_numbers_that_are_old_look_like_what_is_unknown(console: Console) -> None:
    assert console.sandbox.pipeline
    with console.signed_in() as opened:
        opened.page.clock.install()
        opened.page.reload()
        known = opened.page.locator("dl.counts .tone-good")
        expect(known.first).to_be_visible()
        opened.page.route("**/api/v1/**", lambda route: route.abort())
        pass_seconds(opened, 40)
        expect(known).to_have_count(0)
        expect(opened.page.locator("dl.counts .tone-unknown").first).to_be_visible()


def test_a_person_who_signs_out_sees_nothing_any_more(console: Console) -> None:
    with console.signed_in() as opened:
        opened.page.get_by_role("button", name="Sign out").click()
        opened.page.get_by_label("E-mail").wait_for()
        assert "What there is" not in opened.page.content()


def test_an_ended_session_asks_for_the_password_over_the_page(console: Console) -> None:
    user, email = console.sandbox.make_user("Ops")
    with console.signed_in(email=email, password=PASSWORD) as opened:
        console.sandbox.age_sessions(user)
        opened.page.get_by_role("navigation").get_by_role("link", name="Pipelines").click()
        dialog = opened.page.get_by_role("dialog", name="Your session has ended")
        dialog.wait_for()
        sign_in(opened, email, PASSWORD)
        dialog.wait_for(state="hidden")
        settle(opened)
        opened.page.get_by_role("heading", name="Pipelines").wait_for()
        assert opened.all_faults() == []
