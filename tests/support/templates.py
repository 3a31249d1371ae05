"""The template that Chalice makes of this project, and the one that AWS makes of that."""

import json
import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

from infra.aws.package import clean_environment, stage_project

Json = dict[str, Any]

_MAKE_TEMPLATE = """
import sys, zipfile
from chalice.deploy.packager import LambdaDeploymentPackager

def empty(self, project_dir, python_version, package_filename=None):
    zipfile.ZipFile("empty.zip", "w").close()
    return "empty.zip"

LambdaDeploymentPackager.create_deployment_package = empty
from chalice.cli import main
sys.argv = ["chalice", "package", "--stage", "production", "--merge-template", "merge.json", sys.argv[1]]
main()
"""


def template_by_chalice(folder: Path) -> Json:
    """The template of the functions, with an empty zip. Works in `folder`, which must be empty."""
    project = folder / "project"
    stage_project(project)
    made = subprocess.run(
        [sys.executable, "-c", _MAKE_TEMPLATE, str(folder / "built")],
        cwd=project,
        env=clean_environment(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    template: Json = json.loads((folder / "built" / "sam.json").read_text())
    return template


def transformed(template: Json) -> Json:
    """What CloudFormation deploys: the template after AWS's own transform of serverless resources."""
    from samtranslator.translator.transform import transform

    uploaded = deepcopy(template)
    for resource in uploaded["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = "s3://bucket/deployment.zip"
    deployed: Json = transform(uploaded, {}, _NoManagedPolicies())
    return deployed


class _NoManagedPolicies:
    """The roles have policies of their own alone, so the names of AWS's need not be looked up."""

    def load(self) -> dict[str, str]:
        return {}
