"""A person at the keyboard alone: the focus moves by Tab, and what has it is used by keys."""

import re
from dataclasses import dataclass, field

from playwright.sync_api import Page, expect

MAX_TABS = 200
"""More than one way round any screen."""
_READINGS, _PAUSE = 10, 100.0

# Clicks that a key makes have no detail: those are of the keyboard.
COUNT_POINTER = """
window.__pointer = 0;
for (const type of ["pointerdown", "mousedown", "touchstart", "click"])
  addEventListener(type, (event) => { if (type !== "click" || event.detail > 0) window.__pointer += 1; }, true);
"""
_NAMED = re.compile(r"""- '?(?P<role>\w+)(?: "(?P<name>(?:[^"\\]|\\.)*)")?""")


@dataclass(kw_only=True)
class Keyboard:
    """`lost`: what was pressed last where the focus was nowhere afterwards."""

    page: Page
    presses: int = 0
    lost: list[str] = field(default_factory=list)

    def pointer_events(self) -> int:
        """How many were seen; the page must have had COUNT_POINTER from its beginning."""
        return int(self.page.evaluate("window.__pointer"))

    def focused(self) -> tuple[str, str] | None:
        """Role and accessible name of what has the focus."""
        if not self.page.evaluate("document.activeElement !== document.body"):
            return None
        found = _NAMED.match(self.page.locator(":focus").aria_snapshot())
        return (found["role"], re.sub(r"\\(.)", r"\1", found["name"] or "")) if found else None

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.presses += 1

    def go_to(self, role: str, name: str) -> None:
        """Wait for the control, and move the focus to it by Tab."""
        self.page.get_by_role(role, name=name, exact=True).first.wait_for()  # type: ignore[arg-type]  # roles are literals there
        passed = []
        for _ in range(MAX_TABS):
            if (current := self.focused()) == (role, name):
                return
            passed.append(current)
            self.press("Tab")
        raise AssertionError(f"no Tab leads to the {role} {name!r}; it came by {passed}")

    def use(self, role: str, name: str, *, key: str = "Enter", until: str = "") -> None:
        """Press a button or a link, and wait for a text that it brings. It is noted where the focus is nowhere then."""
        self.go_to(role, name)
        expect(self.page.locator(":focus")).not_to_have_attribute("aria-disabled", "true")
        self.press(key)
        if until:
            self.page.get_by_text(until).first.wait_for(timeout=60_000)
        if not self._keeps_focus():
            self.lost.append(f"{role} {name!r}")

    def _keeps_focus(self) -> bool:
        """What goes while it is read has no name: a focus that is really nowhere stays so."""
        for _ in range(_READINGS):
            if self.focused():
                return True
            self.page.wait_for_timeout(_PAUSE)
        return False

    def fill(self, values: dict[str, str]) -> None:
        """Type into text fields, by their labels."""
        for label, value in values.items():
            self.go_to("textbox", label)
            self.press("Control+A")
            self.page.keyboard.type(value)

    def choose(self, label: str, choice: str) -> None:
        """Choose in a list by the beginning of its text."""
        self.go_to("combobox", label)
        self.page.keyboard.type(choice)
