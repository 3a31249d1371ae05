"""Bugs of stored data and of input: secrets, addresses, bodies, the audit trail."""

from tests.seeded_bugs.bug import Bug

_API = "tests/integration/api"
_INTEGRITY = (
    "tests/unit/domain/audit",
    "tests/service/audit",
    "tests/service/stores/audit",
)
_SERVERS = ("tests/unit/domain/providers/postgresql",)

DATA_BUGS: tuple[Bug, ...] = (
    # rows that cannot be read
    Bug(
        "a list fails by one row that cannot be read",
        "chalicelib/stores/unreadable.py",
        "        except UnreadableRow:\n            continue",
        "        except KeyError:\n            continue",
        ("tests/service/stores/test_documents.py", "tests/service/monitors/test_unreadable_rows.py"),
    ),
    Bug(
        "a connector whose pipeline cannot be read counts as an orphan",
        "chalicelib/services/monitors/action_executor.py",
        "            resource = self.owners[RESOURCE_TYPES[kind]].store.find(resource_id)",
        "            resource = self.owners[RESOURCE_TYPES[kind]].store.find_readable(resource_id)",
        ("tests/service/monitors/test_unreadable_rows.py",),
    ),
    # secrets
    Bug(
        "a sealed secret is not bound to its field",
        "chalicelib/secrets/envelope.py",
        '    parts = ("v1", binding.secret_class, binding.id, binding.field, str(binding.version), key_id)',
        '    parts = ("v1", binding.secret_class, binding.id, str(binding.version), key_id)',
        ("tests/unit/secrets", "tests/service/secrets"),
    ),
    Bug(
        "a sealed secret is not bound to its row",
        "chalicelib/secrets/envelope.py",
        '    parts = ("v1", binding.secret_class, binding.id, binding.field, str(binding.version), key_id)',
        '    parts = ("v1", binding.secret_class, binding.field, str(binding.version), key_id)',
        ("tests/unit/secrets", "tests/service/secrets"),
    ),
    Bug(
        "a stored secret follows to another host",
        "chalicelib/domain/endpoint.py",
        "        if address.secret_target != self.address.secret_target or trusts_another:",
        "        if not self.credentials:",
        ("tests/unit/domain/test_endpoint.py", f"{_API}/test_secrets.py"),
    ),
    Bug(
        "a stored secret follows to a server that another certificate vouches for",
        "chalicelib/services/registered.py",
        "data.secrets, trusts_another=trusts_another)",
        "data.secrets)",
        ("tests/service/test_systems.py", f"{_API}/test_secrets.py"),
    ),
    Bug(
        "a source takes the secrets of its connection along to an address of its own",
        "chalicelib/services/systems.py",
        "        before.endpoint.require_own_secrets(address, data.secrets)\n",
        "",
        ("tests/service/test_connections.py", f"{_API}/test_connections.py"),
    ),
    Bug(
        "the deletion of a source removes the secrets of its connection",
        "chalicelib/services/registry.py",
        "        if entity.credentials.belong_to(store.noun, entity.id):",
        "        if entity.credentials:",
        ("tests/service/test_connections.py", f"{_API}/test_connections.py"),
    ),
    Bug(
        "a change of a connection leaves those behind that use it",
        "chalicelib/services/connections.py",
        "        if before.endpoint == after.endpoint or not before.used_by:",
        "        if before.address.identity == after.address.identity:",
        ("tests/service/test_connections.py", f"{_API}/test_connections.py"),
    ),
    Bug(
        "a slot of somebody else is taken and dropped",
        "chalicelib/domain/providers/postgresql/replication.py",
        "        return self.deployed or thing in self.made or self.adopts",
        "        return True",
        ("tests/unit/domain/providers/postgresql/readiness", f"{_API}/test_adoption.py"),
    ),
    Bug(
        "references to secrets are accepted in texts of users",
        "chalicelib/api/framework/inputs.py",
        '    if "${" in text:',
        '    if "$[" in text:',
        ("tests/unit/api/framework/test_inputs.py",),
    ),
    Bug(
        "a log line shows what has a secret's name",
        "chalicelib/kit/log.py",
        "MASK if _is_secret(str(key)) else masked(item, depth + 1)",
        "masked(item, depth + 1)",
        ("tests/unit/kit/test_log.py",),
    ),
    Bug(
        "a Secret prints its value",
        "chalicelib/kit/masking.py",
        '        return f"Secret({MASK!r})"',
        '        return f"Secret({self.__value!r})"',
        ("tests/unit/kit",),
    ),
    # what comes from outside
    Bug(
        "the signature of a cursor is not compared",
        "chalicelib/kit/pages.py",
        "        if not hmac.compare_digest(signature, self._signature(scope, claims)):",
        "        if len(signature) != _SIGNATURE_BYTES:",
        ("tests/unit/kit/test_pages.py",),
    ),
    Bug(
        "a cursor never ends",
        "chalicelib/kit/pages.py",
        "        if now.timestamp() >= expires:",
        "        if not expires:",
        ("tests/unit/kit/test_pages.py",),
    ),
    Bug(
        "loopback is allowed for webhooks",
        "chalicelib/clients/http/addresses.py",
        "            if reason := refusal(text, allow_loopback=self.allow_loopback, allow_private=self.allow_private):",
        "            if reason := refusal(text, allow_loopback=True, allow_private=self.allow_private):",
        ("tests/unit/clients", "tests/integration/test_ssrf.py"),
    ),
    Bug(
        "names of private networks are allowed for webhooks",
        "chalicelib/clients/http/addresses.py",
        "        if not self.allow_private and (reason := name_refusal(host)):",
        "        if self.allow_private and (reason := name_refusal(host)):",
        ("tests/unit/clients", "tests/integration/test_ssrf.py"),
    ),
    Bug(
        "only the first address of a name is checked",
        "chalicelib/clients/http/addresses.py",
        "        for text in texts:\n            if reason",
        "        for text in texts[:1]:\n            if reason",
        ("tests/unit/clients",),
    ),
    Bug(
        "JSON may be nested three thousand deep",
        "chalicelib/kit/strict_json.py",
        "MAX_DEPTH = 32",
        "MAX_DEPTH = 3200",
        ("tests/unit/kit/test_strict_json.py",),
    ),
    # what a source has lost
    Bug(
        "the end of the server's log is not compared",
        "chalicelib/domain/providers/postgresql/server_log.py",
        "        return self.end is not None and position > self.end",
        "        return self.end is not None and position < 0",
        _SERVERS,
    ),
    Bug(
        "the timeline of the server's log is not compared",
        "chalicelib/domain/providers/postgresql/server_log.py",
        "or self._left_before(position, known) or",
        "or",
        _SERVERS,
    ),
    Bug(
        "the offset stays before the gap that a person accepts",
        "chalicelib/services/connectors/capture_checks.py",
        "                self._move(pipeline, source, connect, deadline)",
        "                self.stored_offset(connect, pipeline, deadline)",
        ("tests/service/connectors",),
    ),
    # the integrity of the audit trail
    Bug(
        "a block is not linked to the one before",
        "chalicelib/domain/audit/chain.py",
        "        previous=end.digest,",
        '        previous="",',
        _INTEGRITY,
    ),
    Bug(
        "the anchor is written over whoever has signed meanwhile",
        "chalicelib/stores/audit/chain.py",
        "transaction.put(row, condition=is_new, label=label)",
        "transaction.put(row, condition=None, label=label)",
        _INTEGRITY,
    ),
    Bug(
        "the signature of the anchor is not verified",
        "chalicelib/services/audit/anchors.py",
        "        if anchor is not None and not self.is_genuine(anchor):",
        "        if anchor is not None and not anchor.signature:",
        _INTEGRITY,
    ),
    Bug(
        "records that no block lists are overlooked",
        "chalicelib/services/audit/verification.py",
        "            if row.position < rfc3339(self.now - SIGNED_WITHIN):",
        "            if row.position < rfc3339(self.now - 1000 * SIGNED_WITHIN):",
        _INTEGRITY,
    ),
    Bug(
        "the dispatcher signs whatever it finds",
        "chalicelib/services/audit/anchors.py",
        "            if shard not in last or last[shard].end != end:",
        "            if shard not in last:",
        _INTEGRITY,
    ),
    Bug(
        "a trail that was removed begins again",
        "chalicelib/services/audit/anchors.py",
        "        if anchor is None and (copy or self.chain.has_begun()):",
        "        if anchor is None and copy:",
        _INTEGRITY,
    ),
    Bug(
        "a trail that was rolled back goes on",
        "chalicelib/services/audit/anchors.py",
        "        if copy.number > anchor.number:",
        "        if copy.number < 0:",
        _INTEGRITY,
    ),
    Bug(
        "an acceptance is carried out again and again",
        "chalicelib/services/audit/restores.py",
        "acceptance.position > last.accepted and accepted is not None",
        "accepted is not None",
        _INTEGRITY,
    ),
    Bug(
        "a flood switches off the records of failed sign-ins",
        "chalicelib/services/audit/refusals.py",
        "        if account_id and of_account <= OF_ACCOUNT:",
        "        if account_id and of_account < 1:",
        _INTEGRITY,
    ),
    Bug(
        "refusals have no bound",
        "chalicelib/services/audit/refusals.py",
        "return total if total <= bound or _doubled(total - added, total, bound) else None",
        "return total",
        _INTEGRITY,
    ),
    # target tables
    Bug(
        "a table that was made again is taken for the same one",
        "chalicelib/domain/monitoring/target_tables.py",
        "    if after.identity != before.identity:\n        return LossKind.RECREATED",
        "    if not after.identity:\n        return LossKind.RECREATED",
        ("tests/unit/domain/monitoring/test_target_tables.py",),
    ),
    Bug(
        "rows that the delivery has deleted count as lost",
        "chalicelib/domain/monitoring/target_tables.py",
        "max(before.rows, before.live) if self.records is None else self.records",
        "0",
        ("tests/unit/domain/monitoring/test_target_tables.py",),
    ),
)
