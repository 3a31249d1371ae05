"""Who has a keyboard only is never without the focus."""

from tests.console.console import Console
from tests.console.keyboard import Keyboard
from tests.support.apps.sandbox_stack import ADMIN
from tests.support.chromium import visit


def test_after_the_sign_in_the_focus_is_at_the_content(console: Console) -> None:
    with visit(console.browser, console.url) as opened:
        opened.page.goto(f"{console.url}/console")
        keys = Keyboard(page=opened.page)
        keys.fill({"E-mail": ADMIN.email, "Password": ADMIN.password})
        keys.use("button", "Sign in", until="Sign out")
        assert keys.lost == []
        assert opened.page.evaluate("document.activeElement.id") == "main"


def test_where_a_button_goes_that_was_pressed_the_focus_stays_in_its_step(console: Console) -> None:
    with console.signed_in(route="start?step=ready") as opened:
        keys = Keyboard(page=opened.page)
        keys.use("button", "Back to: Database", until="Step 1 of 7")
        assert keys.lost == []
        assert opened.page.locator("section[aria-labelledby=step]:focus").count() == 1
