"""The object store of the stacks on a machine that cannot build MinIO."""

from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from infra.local.process.ports import kept_ports
from infra.local.stack import s3
from infra.local.stack.folders import Folders
from tests.support.old_go import old_go
from tests.support.servers import running_server


def test_it_is_moto_s_and_the_run_says_why_and_what_that_means(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old_go(monkeypatch, tmp_path)
    folders = Folders(tmp_path)
    port = kept_ports(folders.ports, ["s3"])["s3"]
    with running_server(s3.plan(folders, port=port)) as server:
        said = capsys.readouterr().err
        assert "moto's S3, since MinIO needs Go 1.24 or newer to be built, and go1.19 is here" in said
        assert "it checks no keys and keeps nothing at its end" in said
        anybody = s3.client(port, "anybody", "any secret")
        anybody.put_object(Bucket=s3.BUCKET, Key="one", Body=b"content")
        assert anybody.get_object(Bucket=s3.BUCKET, Key="one")["Body"].read() == b"content"
        server.restart()
        with pytest.raises(ClientError, match="NoSuchKey"):
            anybody.get_object(Bucket=s3.BUCKET, Key="one")
