"""Resolves `${headgate:<uuid>:<field>}` in a configuration, as Headgate's ConfigProvider does in a real worker.

It refuses the same as the plug-in (`infra/connect/`): an id or a field of another shape, a field that the secret
lacks, an endpoint that does not answer 200.
"""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field

# The pattern of org.apache.kafka.common.config.ConfigTransformer: ${provider:[path:]key}.
# Names are bounded here: Kafka's own pattern takes cubic time for a value without an end.
REFERENCE = re.compile(r"\$\{([^}:]{0,300}):(?:([^}:]{0,300}):)?([^}]{0,300})\}")
PROVIDER = "headgate"
SECRET_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
FIELD = re.compile(r"[a-z_]{1,64}")
ANSWER_LIMIT = 256 * 1024
# Without the proxies of the environment: the control plane is on loopback.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class SecretsUnavailableError(Exception):
    """The secret endpoint refused or did not answer. The text is that of the plug-in's exception, without secrets."""


@dataclass(frozen=True, kw_only=True)
class SecretReader:
    """Reads the fields of one secret from `GET {url}/internal/secrets/{uuid}` with the service credential."""

    url: str
    credential: str = field(repr=False)
    timeout_seconds: float = 5.0

    def resolve(self, config: Mapping[str, str]) -> dict[str, str]:
        """The configuration with every known reference replaced.

        A reference to another provider, or without a path, stays as it is: Connect then uses the literal text.
        Raises SecretsUnavailableError when a secret that is referred to, or its field, is not handed out.
        """
        read: dict[str, dict[str, str]] = {}

        def replace(match: re.Match[str]) -> str:
            provider, path, key = match.groups()
            if provider != PROVIDER:
                return match.group(0)
            if not SECRET_ID.fullmatch(path or "") or not FIELD.fullmatch(key):
                raise SecretsUnavailableError("A Headgate reference must be ${headgate:UUID:FIELD}.")
            if path not in read:
                read[path] = self._read(path)
            if key not in read[path]:
                raise SecretsUnavailableError(
                    f"Secret {path} has no field '{key}'. Check the field name in the reference."
                )
            return read[path][key]

        return {key: REFERENCE.sub(replace, value) for key, value in config.items()}

    def _read(self, uuid: str) -> dict[str, str]:
        request = urllib.request.Request(
            f"{self.url.rstrip('/')}/internal/secrets/{uuid}", headers={"Authorization": f"Bearer {self.credential}"}
        )
        try:
            with _DIRECT.open(request, timeout=self.timeout_seconds) as answer:
                body = json.loads(answer.read(ANSWER_LIMIT))
        except (OSError, ValueError, urllib.error.HTTPError) as problem:
            reason = f"status {problem.code}" if isinstance(problem, urllib.error.HTTPError) else type(problem).__name__
            raise SecretsUnavailableError(f"Headgate gave no answer for secret {uuid}: {reason}") from None
        data = body.get("data") if isinstance(body, dict) else None
        if not isinstance(data, dict):
            raise SecretsUnavailableError(f"Headgate gave no answer for secret {uuid}: not understood")
        return {str(name): str(value) for name, value in data.items()}
