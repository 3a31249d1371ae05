"""The documents: their commands work unchanged, their tables list what is read, and their links lead somewhere."""

import re
import subprocess
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from chalicelib.domain.monitoring.own_metrics import OWN_METRICS
from chalicelib.domain.providers.mysql import properties as mysql
from chalicelib.domain.providers.postgresql import properties as postgresql
from chalicelib.settings import Settings
from infra.aws.alarms import alarm_resources
from infra.aws.functions import FUNCTIONS
from infra.aws.parameters import PARAMETERS
from infra.local.process.ports import free_port
from tests.support.apps.local_run import ROOT, clean_environment, fresh_state, started
from tests.support.waiting import eventually

FILES = [ROOT / "README.md", *sorted((ROOT / "infra" / "docs").glob("*.md"))]
TEXTS = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in FILES}
EXECUTED = ("README.md", "infra/docs/tutorial.md")
SERVE, ALWAYS, ROWS = "serve", "", "rows"
"""Marks of blocks: it starts Headgate; it works on each stack; it waits for rows, which only the real stack moves."""
MAX_README_LINES = 230
SCRIPT_SECONDS = 180


@dataclass(frozen=True)
class Block:
    """A fenced block of commands."""

    mark: str
    commands: str


def blocks(document: str) -> list[Block]:
    found = re.findall(r"<!-- test(?:: (\w+))? -->\n```bash\n(.*?)```\n", TEXTS[document], re.DOTALL)
    return [Block(mark or ALWAYS, commands) for mark, commands in found]


@pytest.mark.parametrize("document", EXECUTED)
def test_every_block_of_commands_is_executed(document: str) -> None:
    marks = [block.mark for block in blocks(document)]
    assert len(marks) == TEXTS[document].count("```bash\n") > 0
    assert set(marks) == {SERVE, ALWAYS, ROWS}
    assert marks.count(SERVE) == 1


def test_no_other_document_has_commands_that_nobody_executes() -> None:
    assert [name for name, text in TEXTS.items() if "```bash\n" in text] == list(EXECUTED)


def test_the_readme_can_be_read_in_one_go() -> None:
    assert len(TEXTS["README.md"].splitlines()) <= MAX_README_LINES


@pytest.mark.parametrize("document", TEXTS)
def test_every_link_to_a_file_or_a_heading_leads_somewhere(document: str) -> None:
    folder = (ROOT / document).parent
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXTS[document]):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = (folder / path).resolve() if path else ROOT / document
        assert file.exists(), target
        text = file.read_text(encoding="utf-8") if file.suffix == ".md" else ""
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not anchor or anchor in anchors, target


@pytest.mark.parametrize("call", ["get /sources", "post /sources '{}'"])
@pytest.mark.parametrize("document", EXECUTED)
def test_a_function_that_calls_headgate_fails_without_a_good_response(document: str, call: str) -> None:
    functions = re.findall(r"^\w+\(\) \{ .* \}$", TEXTS[document], re.MULTILINE)
    unreachable = f"api=http://127.0.0.1:{free_port()} cookies=/dev/null"
    script = "\n".join([unreachable, *functions, f"until {call}; do echo 'asked again'; break; done"])
    with fresh_state() as state:
        assert "asked again" in run_script(script, state)


@pytest.mark.parametrize("document", EXECUTED)
def test_the_file_with_the_printed_password_is_for_its_owner_only(document: str) -> None:
    serve = next(block.commands for block in blocks(document) if block.mark == SERVE)
    with fresh_state() as state:
        lines = state / "run.env"
        lines.write_text("of an earlier run")
        lines.chmod(0o644)
        run_script(serve.replace(".headgate/run.env", str(lines)).replace("./infra/run", "echo"), state)
        assert lines.read_text() == "--no-demo\n"
        assert lines.stat().st_mode & 0o777 == 0o600


@pytest.mark.thorough
@pytest.mark.parametrize("document", EXECUTED)
def test_the_first_pipeline_works_in_the_sandbox(document: str) -> None:
    assert "COMPLETED" in run_document(document, "sandbox", (ALWAYS,))


@pytest.mark.real
@pytest.mark.parametrize("document", EXECUTED)
def test_the_first_pipeline_works_on_the_real_stack_and_rows_arrive(document: str) -> None:
    assert "990|0.00|1485.00" in run_document(document, "real", (ALWAYS, ROWS))


def run_document(document: str, stack: str, marks: tuple[str, ...]) -> str:
    """Runs the document's commands in two terminals, and returns the output of the second one.

    Only what a user may choose differs: the port, the stack, and the file for the output of the first terminal.
    """
    serve = next(block.commands for block in blocks(document) if block.mark == SERVE)
    script = "\n".join(block.commands for block in blocks(document) if block.mark in marks)
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


def below_header(document: str, sentence: str, header: str) -> str:
    """The rows of the first table behind that sentence."""
    return TEXTS[document].partition(sentence)[2].partition(header)[2].partition("\n\n")[0]


def table(heading: str) -> dict[str, str]:
    """The variables of the table of settings below that sentence, with their default values."""
    below = below_header("infra/docs/configuration.md", heading, "|---|---|---|\n")
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
    expected |= {name: str(value).lower() for name, value in defaults.items() if isinstance(value, bool)}
    retention = expected.pop("HEADGATE_AUDIT_RETENTION")  # the variable counts days
    expected["HEADGATE_AUDIT_RETENTION_DAYS"] = retention.partition(" ")[0]
    # Becomes a hash as soon as it is read.
    expected["HEADGATE_SERVICE_CREDENTIAL"] = ""
    documented = table("Headgate reads these variables.")
    assert documented == expected


ALARMS = {name for name, one in alarm_resources().items() if one["Type"] == "AWS::CloudWatch::Alarm"}


def test_the_tables_of_aws_name_every_function_parameter_and_alarm() -> None:
    documented = set(re.findall(r"`([\w-]+)`", TEXTS["infra/docs/aws.md"]))
    assert {function.deployed_name for function in FUNCTIONS} <= documented
    assert {parameter.name for parameter in PARAMETERS} <= documented
    # Those of which there is one for each function, table or metric are named as `<function>ThrottlesAlarm`.
    of_many = {name for name in ALARMS if "Throttles" in name or name.removesuffix("Alarm") in set(OWN_METRICS)}
    named = {name for name in documented if name.endswith("Alarm")}
    assert ALARMS - of_many <= named <= ALARMS
    for pattern in ("<function>ThrottlesAlarm", "<table>TableThrottlesAlarm", "<metric>Alarm"):
        assert f"`{pattern}`" in TEXTS["infra/docs/aws.md"]


def test_the_table_of_properties_names_every_key_that_may_be_set() -> None:
    below = below_header("infra/docs/pipelines.md", "`properties` may set these keys", "|---|---|\n")
    documented = set[str]()
    for row in below.splitlines():
        keys = re.findall(r"`([a-z.]+)`", re.sub(r"\([^)]*\)", "", row))
        documented |= {keys[0] + key for key in keys[1:]} if keys[0].endswith(".") else set(keys)
    assert documented == postgresql.ALLOWED_PROPERTIES.keys() | mysql.ALLOWED_PROPERTIES.keys()


def test_the_table_of_the_scripts_names_every_variable_that_they_read() -> None:
    sources = [*(ROOT / "infra" / "local").rglob("*.py"), ROOT / "infra" / "quality" / "suite.py"]
    read = {
        name
        for source in sources
        for name in re.findall(r"""(?:environ\.get\("|\$\{)(HEADGATE_\w+)(?:"|:-)""", source.read_text())
    }
    settings = table("Headgate reads these variables.")
    assert read - settings.keys() == table("The scripts read these besides:").keys()
