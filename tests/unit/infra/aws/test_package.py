"""`infra/package`, from end to end where the package is really built (marked `real`: it takes many seconds)."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from infra.aws.functions import FUNCTIONS
from infra.aws.package import (
    DATA_TEMPLATE,
    TEMPLATE,
    ZIP,
    CannotBuild,
    clean_environment,
    main,
    require_python,
    stage_project,
)
from infra.aws.parameters import PARAMETERS
from infra.aws.sbom import SBOM
from tests.support.package import built

__all__ = ["built"]

TOOLS = {"chalice", "pip", "setuptools", "wheel", "inquirer", "moto", "pytest", "tests", "infra"}


@pytest.fixture
def said() -> list[str]:
    return []


def test_help_tells_how_to_use_it(said: list[str]) -> None:
    assert main(["--help"], said.append) == 0
    assert "usage: infra/package [FOLDER]" in said[0]


@pytest.mark.parametrize("arguments", [["one", "two"], ["--fast"]])
def test_other_arguments_are_refused(said: list[str], arguments: list[str]) -> None:
    assert main(arguments, said.append) == 2


def test_settings_and_credentials_of_the_machine_stay_out_of_the_package() -> None:
    variables = {
        "PATH": "/bin",
        "HEADGATE_ADMIN_PASSWORD": "hunter2",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "PIP_INDEX_URL": "u",
    }
    cleaned = clean_environment(variables)
    assert "hunter2" not in cleaned.values()
    assert (cleaned["PATH"], cleaned["PIP_INDEX_URL"]) == ("/bin", "u")


def test_only_what_chalice_reads_is_staged(tmp_path: Path) -> None:
    stage_project(tmp_path / "project")
    staged = {
        str(path.relative_to(tmp_path / "project")) for path in (tmp_path / "project").rglob("*") if path.is_file()
    }
    policies = {f".chalice/policies/{function.name}.json" for function in FUNCTIONS}
    assert {"app.py", "requirements.txt", ".chalice/config.json", "merge.json"} | policies <= staged
    assert {name.partition("/")[0] for name in staged} == {
        *("app.py", "requirements.txt", "chalicelib", ".chalice", "merge.json")
    }
    assert not any("__pycache__" in name or "deployments" in name for name in staged)


def test_an_older_python_is_refused_with_what_is_missing() -> None:
    with pytest.raises(CannotBuild, match=r"packaging needs Python 3\.12 or newer, and this environment has 3\.11"):
        require_python((3, 11))


@pytest.mark.real
def test_it_says_what_it_made(built: tuple[Path, str]) -> None:
    assert "sound" in built[1].splitlines()[-1]
    assert sorted(path.name for path in built[0].iterdir()) == [DATA_TEMPLATE, ZIP, SBOM, TEMPLATE]


@pytest.mark.real
def test_the_zip_has_no_tool_in_it(built: tuple[Path, str]) -> None:
    with ZipFile(built[0] / ZIP) as archive:
        tops = {name.partition("/")[0].partition("-")[0] for name in archive.namelist()}
    assert tops & TOOLS == {"chalice"}
    assert {"app.py", "chalicelib", "kafka", "psycopg_binary", "pymysql"} <= tops


@pytest.mark.real
def test_the_template_is_one_that_cloudformation_reads(built: tuple[Path, str]) -> None:
    template = json.loads((built[0] / TEMPLATE).read_text())
    assert template["Transform"] == "AWS::Serverless-2016-10-31"
    assert set(template["Parameters"]) == {parameter.name for parameter in PARAMETERS}
