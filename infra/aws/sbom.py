"""The software bill of materials of the functions, in CycloneDX's JSON.

It is read from the zip of the functions, so it names the installed packages, not the required ones.
"""

from collections.abc import Iterator
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from zipfile import ZipFile

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.utils import canonicalize_name

from infra.quality.licences import installed, licence_of

SBOM = "sbom.cdx.json"


def sbom(file: Path) -> str:
    """The document for a zip that `infra/package` has built."""
    bom = Bom(components=[_component(facts) for facts in _distributions(file)])
    bom.metadata.component = Component(name="headgate", type=ComponentType.APPLICATION, bom_ref="headgate")
    bom.register_dependency(bom.metadata.component, bom.components)
    return JsonV1Dot6(bom).output_as_string(indent=1)


def _distributions(file: Path) -> Iterator[Message]:
    with ZipFile(file) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".dist-info/METADATA"):
                yield HeaderParser().parsestr(archive.read(name).decode())
    # Its two files in the zip come without metadata: see `zip_checks.RUNTIME_OF_CHALICE`.
    yield installed("chalice")


def _component(facts: Message) -> Component:
    name, version = canonicalize_name(facts["Name"]), facts["Version"]
    url = PackageURL(type="pypi", name=name, version=version)
    licence = LicenseFactory().make_from_string(licence_of(facts))
    return Component(
        name=name, version=version, type=ComponentType.LIBRARY, purl=url, bom_ref=str(url), licenses=[licence]
    )
