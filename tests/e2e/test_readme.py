"""The README's commands work unchanged, and its tables list what the code reads."""

import re
import subprocess
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from chalicelib.domain.providers.postgresql.properties import ALLOWED_PROPERTIES
from chalicelib.settings import Settings
from infra.local.process.ports import free_port
from tests.support.local_run import ROOT, clean_environment, fresh_state, started
from tests.support.waiting import eventually

README = (ROOT / "README.md").read_text(encoding="utf-8")
SERVE, ALWAYS, ROWS = "serve", "", "rows"
"""Marks of blocks: it starts Headgate; it works on each stack; it waits for rows, which only the real stack moves."""
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


@pytest.mark.parametrize("call", ["get /sources", "post /sources '{}'"])
def test_a_function_that_calls_headgate_fails_without_a_good_response(call: str) -> None:
    functions = re.findall(r"^\w+\(\) \{ .* \}$", README, re.MULTILINE)
    unreachable = f"api=http://127.0.0.1:{free_port()} cookies=/dev/null"
    script = "\n".join([unreachable, *functions, f"until {call}; do echo 'asked again'; break; done"])
    with fresh_state() as state:
        assert "asked again" in run_script(script, state)


@pytest.mark.thorough
def test_the_first_pipeline_works_in_the_sandbox() -> None:
    output = run_readme("sandbox", (ALWAYS,))
    assert '"observed_state":"PAUSED"' in output


@pytest.mark.real
def test_the_first_pipeline_works_on_the_real_stack_and_rows_arrive() -> None:
    output = run_readme("real", (ALWAYS, ROWS))
    assert "990|0.00|1485.00" in output
    assert '"observed_state":"PAUSED"' in output


def run_readme(stack: str, marks: tuple[str, ...]) -> str:
    """Runs the README's commands in two terminals, and returns the output of the second one.

    Only what a user may choose differs: the port, the stack, and the file for the output of the first terminal.
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
            # `tee` prints a line before it writes it to the file.
            eventually(lambda: "HEADGATE_READY" in lines.read_text(encoding="utf-8"))
            output = run_script(script.replace(".headgate/run.env", str(lines)), state)
            run.press_ctrl_c()
    return output


def run_script(script: str, state: Path) -> str:
    """Runs the script in a shell that ends at the first failure; returns its output."""
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
    """The variables of the table below that sentence, with their default values."""
    below = README.partition(heading)[2].partition("|---|---|---|\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(HEADGATE_\w+)` \| (?:`([^`]*)`)? ?\|", below, re.MULTILINE)
    assert len(rows) == len(below.strip().splitlines())
    return dict(rows)


SIGN_ON = {
    "HEADGATE_PUBLIC_URL": "https://headgate.example.com",
    "HEADGATE_OIDC_ISSUER": "https://login.example.com",
    "HEADGATE_OIDC_CLIENT_ID": "headgate",
    "HEADGATE_OIDC_ROLES": "everyone=Viewer",
}
"""What single sign-on cannot do without; nothing of it has a default."""


def test_the_table_of_settings_matches_the_code() -> None:
    settings = Settings.read(SIGN_ON)
    sign_on = settings.oidc
    assert sign_on
    defaults = {f"HEADGATE_{field.name.upper()}": getattr(settings, field.name) for field in fields(settings)}
    del defaults["HEADGATE_OIDC"]
    defaults |= {f"HEADGATE_OIDC_{field.name.upper()}": getattr(sign_on, field.name) for field in fields(sign_on)}
    defaults |= dict.fromkeys(SIGN_ON)
    expected = {name: str(value) if value else "" for name, value in defaults.items() if value is not False}
    expected |= {name: "false" for name, value in defaults.items() if value is False}
    # Becomes a hash as soon as it is read.
    expected["HEADGATE_SERVICE_CREDENTIAL"] = ""
    documented = table("Headgate reads these variables.")
    assert documented == expected


def test_the_table_of_properties_names_every_key_that_may_be_set() -> None:
    below = README.partition("`properties` may set these keys")[2].partition("|---|---|\n")[2].partition("\n\n")[0]
    documented = set[str]()
    for row in below.splitlines():
        keys = re.findall(r"`([a-z.]+)`", re.sub(r"\([^)]*\)", "", row))
        documented |= {keys[0] + key for key in keys[1:]} if keys[0].endswith(".") else set(keys)
    assert documented == ALLOWED_PROPERTIES.keys()


def test_the_table_of_the_scripts_names_every_variable_that_they_read() -> None:
    sources = [*(ROOT / "infra" / "local").rglob("*.py"), ROOT / "infra" / "test"]
    read = {
        name
        for source in sources
        for name in re.findall(r"""(?:environ\.get\("|\$\{)(HEADGATE_\w+)(?:"|:-)""", source.read_text())
    }
    settings = table("Headgate reads these variables.")
    assert read - settings.keys() == table("The scripts read these besides:").keys()
