"""The list of what is deployed names what is in the zip, in a form that others read."""

import json
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from infra.aws.sbom import sbom

METADATA = "Metadata-Version: 2.4\nName: Gamma.Ray\nVersion: 3.0\nLicense-Expression: MIT OR Apache-2.0\n\nText.\n"


@pytest.fixture
def text(tmp_path: Path) -> str:
    file = tmp_path / "deployment.zip"
    with ZipFile(file, "w") as archive:
        archive.writestr("gamma_ray-3.0.dist-info/METADATA", METADATA)
        archive.writestr("gamma_ray/__init__.py", "")
    return sbom(file)


def test_every_distribution_is_named_with_version_licence_and_package_url(text: str) -> None:
    found = {one["name"]: one for one in json.loads(text)["components"]}
    assert found["gamma-ray"]["version"] == "3.0"
    assert found["gamma-ray"]["purl"] == "pkg:pypi/gamma-ray@3.0"
    assert found["gamma-ray"]["licenses"] == [{"expression": "MIT OR Apache-2.0"}]


def test_chalice_is_named_although_it_comes_without_metadata(text: str) -> None:
    found = {one["name"]: one for one in json.loads(text)["components"]}
    assert found["chalice"]["version"] == version("chalice")


def test_the_document_keeps_to_the_schema_of_cyclonedx(text: str) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
