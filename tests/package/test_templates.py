"""The templates are such as CloudFormation takes, and AWS makes of them what we mean."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.aws.data_stack import data_template
from tests.support.templates import Json, template_by_chalice, transformed


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Json:
    return template_by_chalice(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def deployed(functions: Json) -> Iterator[Json]:
    with pytest.MonkeyPatch.context() as environment:
        # The transform asks for the partition of the Region.
        environment.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        yield transformed(functions)


def complaints(folder: Path, template: Json) -> str:
    """What cfn-lint says about a template in four Regions of three partitions."""
    file = folder / "template.json"
    file.write_text(json.dumps(template))
    regions = ("--regions", "us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1")
    linted = subprocess.run(
        [str(Path(sys.executable).parent / "cfn-lint"), *regions, "--", str(file)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return linted.stdout + linted.stderr


def test_the_stack_of_data_has_no_faults(tmp_path: Path) -> None:
    assert complaints(tmp_path, data_template()) == ""


def test_the_stack_of_functions_has_no_faults(tmp_path: Path, functions: Json) -> None:
    assert complaints(tmp_path, functions) == ""


def test_the_stack_of_functions_has_no_faults_as_aws_transforms_it(tmp_path: Path, deployed: Json) -> None:
    assert complaints(tmp_path, deployed) == ""


def test_a_fault_of_a_template_is_found(tmp_path: Path) -> None:
    spoilt = data_template()
    spoilt["Resources"]["JobsQueue"]["Properties"]["VisibilityTimeout"] = "long"
    assert "E3012" in complaints(tmp_path, spoilt)


def test_the_api_has_one_public_stage(deployed: Json) -> None:
    """SAM adds another one where no version of OpenAPI is named."""
    kinds = Counter(resource["Type"] for resource in deployed["Resources"].values() if "Condition" not in resource)
    assert (kinds["AWS::ApiGateway::RestApi"], kinds["AWS::ApiGateway::Stage"]) == (1, 1)


def test_the_stage_has_a_throttle_and_a_log_without_the_paths_of_requests(deployed: Json) -> None:
    for stage in (
        one["Properties"] for one in deployed["Resources"].values() if one["Type"] == "AWS::ApiGateway::Stage"
    ):
        (limits,) = stage["MethodSettings"]
        assert (limits["ThrottlingRateLimit"], limits["ResourcePath"]) == ({"Ref": "RequestsPerSecond"}, "/*")
        logged = json.loads(stage["AccessLogSetting"]["Format"])
        assert logged["path"] == "$context.resourcePath"
        assert "$context.path" not in logged.values()
