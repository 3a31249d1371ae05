"""The README's commands work as they stand, and its tables say what the code reads."""

import re
import subprocess
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from chalicelib.settings import Settings
from infra.local.process.ports import free_port
from tests.support.local_run import ROOT, clean_environment, fresh_state, started
from tests.support.waiting import eventually

README = (ROOT / "README.md").read_text(encoding="utf-8")
SERVE, ALWAYS, ROWS = "serve", "", "rows"
"""What a block is marked with: it starts Headgate; it works on each stack; it waits for rows, which only move on the
real one."""
SCRIPT_SECONDS = 180


@dataclass(frozen=True)
class Block:
    """A fenced block of commands."""

    mark: str
    commands: str


BLOCKS = [
    Block(mark or ALWAYS, commands)
    for mark, commands in re.findall(r"<!-- test(?:: (\w+))? -->\n```bash\n(.*?)```\n", README, re.DOTALL)
]


def test_every_block_of_commands_is_executed() -> None:
    assert len(BLOCKS) == README.count("```bash\n") > 0
    assert {block.mark for block in BLOCKS} == {SERVE, ALWAYS, ROWS}
    assert [block.mark for block in BLOCKS].count(SERVE) == 1


@pytest.mark.parametrize("asks", ["get /sources", "post /sources '{}'"])
def test_what_asks_headgate_fails_where_it_gets_no_good_answer(asks: str) -> None:
    functions = re.findall(r"^\w+\(\) \{ .* \}$", README, re.MULTILINE)
    nobody = f"api=http://127.0.0.1:{free_port()} cookies=/dev/null"
    script = "\n".join([nobody, *functions, f"until {asks}; do echo 'asked again'; break; done"])
    with fresh_state() as state:
        assert "asked again" in follow_along(script, state)


@pytest.mark.thorough
def test_the_first_pipeline_works_in_the_sandbox() -> None:
    output = follow("sandbox", (ALWAYS,))
    assert '"observed_state":"PAUSED"' in output


@pytest.mark.real
def test_the_first_pipeline_works_on_the_real_stack_and_rows_arrive() -> None:
    output = follow("real", (ALWAYS, ROWS))
    assert "990|0.00|1485.00" in output
    assert '"observed_state":"PAUSED"' in output


def follow(stack: str, marks: tuple[str, ...]) -> str:
    """Does what the README says, in two terminals, and returns what the second one showed.

    Only what a person might choose differs: the port, the stack, and where the lines of the first terminal are kept.
    """
    serve = next(block.commands for block in BLOCKS if block.mark == SERVE)
    script = "\n".join(block.commands for block in BLOCKS if block.mark in marks)
    with fresh_state() as state:
        lines = state / "run.env"
        command = serve.replace(".headgate/run.env", str(lines)).replace(
            "infra/run", f"infra/run --stack {stack} --port {free_port()}"
        )
        with started(["bash", "-c", command], state) as run:
            run.wait_for("^HEADGATE_READY$")
            # `tee` shows a line before it keeps it, and a test is quicker in the other terminal than a person.
            eventually(lambda: "HEADGATE_READY" in lines.read_text(encoding="utf-8"))
            output = follow_along(script.replace(".headgate/run.env", str(lines)), state)
            run.press_ctrl_c()
    return output


def follow_along(script: str, state: Path) -> str:
    """Runs the script in a shell that ends at the first failure; returns what it showed."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        env=dict(clean_environment(state)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SCRIPT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def table(heading: str) -> dict[str, str]:
    """The variables of the table below that sentence, with their defaults."""
    below = README.partition(heading)[2].partition("|---|---|---|\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(HEADGATE_\w+)` \| (?:`([^`]*)`)? ?\|", below, re.MULTILINE)
    assert len(rows) == len(below.strip().splitlines())
    return dict(rows)


def test_the_table_of_settings_is_that_of_the_code() -> None:
    settings = Settings.read({})
    shown = {f"HEADGATE_{field.name.upper()}": getattr(settings, field.name) for field in fields(Settings)}
    expected = {name: "" if value is None else str(value) for name, value in shown.items()}
    output = table("Headgate reads these variables.")
    assert output == {name: value.lower() if value in ("True", "False") else value for name, value in expected.items()}


def test_the_table_of_the_scripts_variables_names_all_that_they_read() -> None:
    sources = [*(ROOT / "infra" / "local").rglob("*.py"), ROOT / "infra" / "test"]
    read = {
        name
        for source in sources
        for name in re.findall(r"""(?:environ\.get\("|\$\{)(HEADGATE_\w+)(?:"|:-)""", source.read_text())
    }
    settings = table("Headgate reads these variables.")
    assert read - settings.keys() == table("The scripts read these besides:").keys()
