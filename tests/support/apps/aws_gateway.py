"""The moto of this process over HTTP on loopback, so that other processes can share its tables, queues and keys.

    with aws_gateway() as url:
        variables = {"AWS_ENDPOINT_URL": url, ...}

moto has a server of its own, which needs a web framework that nothing else here needs.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from botocore.awsrequest import AWSPreparedRequest
from moto.core.models import botocore_stubber

from tests.support.apps.tables import REGION

_SERVICES = {"DynamoDB_20120810": "dynamodb", "AmazonSQS": "sqs", "TrentService": "kms"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Pass one request of an SDK on to moto."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        service = _SERVICES[self.headers["X-Amz-Target"].partition(".")[0]]
        host = f"{service}.{REGION}.amazonaws.com"
        headers = {**self.headers, "Host": host}
        request = AWSPreparedRequest("POST", f"https://{host}/", headers, body, stream_output=False)
        status, answered, text = botocore_stubber.process_request(request)
        content = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        for name in answered.keys() - {"Content-Length", "content-length"}:
            self.send_header(name, answered[name])
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def aws_gateway() -> Iterator[str]:
    """The URL of a server that passes everything on to the moto of this process, which has to be running."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = False  # so that `server_close` waits until every connection is closed
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
