"""Every screen of the console, with what it needs to be full."""

from collections.abc import Callable, Mapping

from tests.support.apps.sandbox import Sandbox

SCREENS: Mapping[str, Callable[[Sandbox], str]] = {
    "now": lambda _: "",
    "pipelines": lambda sandbox: f"pipelines?q={sandbox.pipeline['name']}",
    "pipeline": lambda sandbox: f"pipelines/{sandbox.pipeline['id']}",
}
"""The name of each screen, and its route in a sandbox where there is something to show."""
