"""The bugs: each is one edit that somebody could make by mistake, and the tests that are run to catch it.

`tests` are the files that a developer would run for that module. A bug is caught when one of their tests fails.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bug:
    """In `file`, `before` (which stands there once) becomes `after`."""

    name: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]


_SESSIONS = ("tests/unit/services/accounts",)
_API = "tests/integration/api"
_INTEGRITY = (
    "tests/unit/domain/integrity",
    "tests/unit/services/audit_integrity",
    "tests/unit/stores/test_audit_chain.py",
)

BUGS: tuple[Bug, ...] = (
    # who may what
    Bug(
        "an Ops may do what is for Admins",
        "chalicelib/domain/access.py",
        "    Role.OPS: frozenset({Permission.READ, Permission.WRITE, Permission.OPERATE}),",
        "    Role.OPS: frozenset({Permission.READ, Permission.WRITE, Permission.OPERATE, Permission.ADMINISTER}),",
        (f"{_API}/test_permissions.py",),
    ),
    Bug(
        "a permission is not checked",
        "chalicelib/api/boundary.py",
        "    if actor.role is None or not may(actor.role, route.needs):",
        "    if actor.role is None:",
        ("tests/unit/api/test_boundary.py", f"{_API}/test_permissions.py"),
    ),
    Bug(
        "a denial is not audited",
        "chalicelib/api/boundary.py",
        "            self._deps().record_denial(context, route, request, refused)",
        "            pass",
        ("tests/unit/api/test_boundary.py", f"{_API}/test_audit.py"),
    ),
    Bug(
        "deleting a source needs only the permission to write",
        "chalicelib/api/sources.py",
        '@routes.delete("/sources/{uuid}", needs=Permission.ADMINISTER',
        '@routes.delete("/sources/{uuid}", needs=Permission.WRITE',
        (f"{_API}/test_permissions.py",),
    ),
    Bug(
        "users are listed for everybody who may read",
        "chalicelib/api/users.py",
        '@routes.get("/users", needs=Permission.MANAGE_USERS)',
        '@routes.get("/users", needs=Permission.READ)',
        (f"{_API}/test_permissions.py", f"{_API}/test_users.py"),
    ),
    Bug(
        "the service credential is not asked for",
        "chalicelib/api/authentication.py",
        '        if not has_hash(bearer_token(headers) or "", self.service_credential_hash):',
        "        if not headers:",
        (f"{_API}/test_permissions.py",),
    ),
    # sessions and the CSRF rule
    Bug(
        "requests from other sites are accepted",
        "chalicelib/api/authentication.py",
        "        if method not in _SAFE:\n            _refuse_cross_site(headers, actor)",
        "        if method in _SAFE:\n            _refuse_cross_site(headers, actor)",
        (f"{_API}/test_access.py",),
    ),
    Bug(
        "the origin is not compared",
        "chalicelib/api/authentication.py",
        "(origin is not None and origin.lower() not in _own_origins(headers))",
        "(origin is not None and not origin)",
        (f"{_API}/test_access.py",),
    ),
    Bug(
        "the plain cookie counts over https",
        "chalicelib/api/sent_credentials.py",
        "cookies.get(cookie) if on_plain_loopback(headers) else None)",
        "cookies.get(cookie))",
        (f"{_API}/test_access.py",),
    ),
    Bug(
        "a cookie can be read by scripts",
        "chalicelib/api/sent_credentials.py",
        "Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}",
        "Max-Age={seconds}; SameSite=Lax{secure}",
        (f"{_API}/test_access.py",),
    ),
    Bug(
        "with an invalid token the cookie counts",
        "chalicelib/api/authentication.py",
        "        if (token := bearer_token(headers)) is not None:\n            return",
        '        if (token := bearer_token(headers)) is not None and "cookie" not in headers:\n            return',
        (f"{_API}/test_api_tokens.py",),
    ),
    Bug(
        "a session of an earlier generation is valid",
        "chalicelib/domain/accounts/user.py",
        "        of_user = self.user_id == user.id and self.generation == user.session_generation",
        "        of_user = self.user_id == user.id",
        (f"{_API}/test_users.py",),
    ),
    Bug(
        "a session of a disabled user is valid",
        "chalicelib/domain/accounts/user.py",
        "        return of_user and user.status is UserStatus.ACTIVE and now < self.expires_at()",
        "        return of_user and now < self.expires_at()",
        _SESSIONS,
    ),
    Bug(
        "a session lives while it is used",
        "chalicelib/domain/accounts/user.py",
        "        return min(self.ends_at, self.last_seen_at + IDLE)",
        "        return self.last_seen_at + IDLE",
        _SESSIONS,
    ),
    Bug(
        "the end of a session is compared the wrong way round",
        "chalicelib/domain/accounts/user.py",
        "UserStatus.ACTIVE and now < self.expires_at()",
        "UserStatus.ACTIVE and now > self.expires_at()",
        _SESSIONS,
    ),
    Bug(
        "a new login leaves the old session alive",
        "chalicelib/services/accounts/sessions.py",
        "        if replaces is not None:\n            self.sessions.delete(transaction, _session_id(replaces))",
        "",
        _SESSIONS,
    ),
    Bug(
        "a new password leaves other sessions alive",
        "chalicelib/services/accounts/sessions.py",
        "            session_generation=user.session_generation + 1,\n            version=user.version + 1,",
        "            version=user.version + 1,",
        (f"{_API}/test_users.py",),
    ),
    # passwords and tries
    Bug(
        "the throttle comes after the hash",
        "chalicelib/services/accounts/sessions.py",
        "        admitted = self.throttle.admit(context, login, user.id if user else None)\n"
        "        verified = verify_password(password, user.password_hash if user else None)",
        "        verified = verify_password(password, user.password_hash if user else None)\n"
        "        admitted = self.throttle.admit(context, login, user.id if user else None)",
        _SESSIONS,
    ),
    Bug(
        "an unknown user costs no hash",
        "chalicelib/secrets/passwords.py",
        "            Argon2id.verify_phc_encoded(password.reveal().encode(), hashed or _UNUSED_HASH)",
        "            Argon2id.verify_phc_encoded(password.reveal().encode(), hashed or '')",
        ("tests/unit/secrets/test_passwords.py", *_SESSIONS),
    ),
    Bug(
        "a wrong password of an unknown user is right",
        "chalicelib/secrets/passwords.py",
        "    return hashed is not None\n",
        "    return True\n",
        ("tests/unit/secrets/test_passwords.py", *_SESSIONS),
    ),
    Bug(
        "a try is counted without a limit",
        "chalicelib/stores/accounts/login_tries.py",
        "(LoginTryRow.tries < limit.most)",
        "(LoginTryRow.tries >= 0)",
        _SESSIONS,
    ),
    Bug(
        "one try more than the limit",
        "chalicelib/stores/accounts/login_tries.py",
        "(LoginTryRow.tries < limit.most)",
        "(LoginTryRow.tries <= limit.most)",
        _SESSIONS,
    ),
    Bug(
        "a login does not give its try back",
        "chalicelib/services/accounts/login_throttle.py",
        "        self.store.give_back(transaction, admitted.limits, window_end(now))",
        "",
        _SESSIONS,
    ),
    Bug(
        "every session counts as one of the account",
        "chalicelib/services/accounts/sessions.py",
        "        own = present is not None and user is not None and present.user.id == user.id",
        "        own = present is not None",
        _SESSIONS,
    ),
    Bug(
        "a disabled user can sign in",
        "chalicelib/services/accounts/sessions.py",
        "            if not verified or user is None or user.status is not UserStatus.ACTIVE:",
        "            if not verified or user is None:",
        (f"{_API}/test_access.py", *_SESSIONS),
    ),
    Bug(
        "common passwords are accepted",
        "chalicelib/services/accounts/users.py",
        "    if is_common(password.reveal(), email):",
        "    if not password:",
        (f"{_API}/test_users.py",),
    ),
    # users, invites, tokens
    Bug(
        "the last Admin can go",
        "chalicelib/stores/accounts/users.py",
        "        others = CountRow.ADMINS > 1 if change < 0 else None",
        "        others = None",
        ("tests/unit/services/accounts", "tests/unit/stores/accounts"),
    ),
    Bug(
        "an Admin who is made is not counted",
        "chalicelib/stores/accounts/users.py",
        "        count_admins(transaction, after.is_active_admin - before.is_active_admin)",
        "        count_admins(transaction, min(0, after.is_active_admin - before.is_active_admin))",
        ("tests/unit/services/accounts", "tests/unit/stores/accounts", f"{_API}/test_users.py"),
    ),
    Bug(
        "people can disable themselves",
        "chalicelib/services/accounts/users.py",
        "        if before.id == context.actor.id:",
        "        if before.id == context.actor.credential_id:",
        (f"{_API}/test_users.py",),
    ),
    Bug(
        "an expired invite works",
        "chalicelib/domain/accounts/user.py",
        "self.invite is not None and now < self.invite.expires_at",
        "self.invite is not None",
        ("tests/unit/services/accounts",),
    ),
    Bug(
        "the random part of an invite is not compared",
        "chalicelib/services/accounts/invites.py",
        "        if user is None or invite is None or not has_hash(token, [invite.token_hash]):",
        "        if user is None or invite is None:",
        ("tests/unit/services/accounts", f"{_API}/test_users.py"),
    ),
    Bug(
        "the random part of a token is not compared",
        "chalicelib/services/accounts/api_tokens.py",
        "        if found is None or role is None or not has_hash(text, [found[0].token_hash]):",
        "        if found is None or role is None:",
        ("tests/unit/services/accounts", f"{_API}/test_api_tokens.py"),
    ),
    Bug(
        "a token has the role that it was made with",
        "chalicelib/domain/accounts/api_token.py",
        "        return min(self.role, owner.role, key=ROLES.index)",
        "        return self.role",
        (f"{_API}/test_api_tokens.py",),
    ),
    Bug(
        "a token of a disabled owner works",
        "chalicelib/domain/accounts/api_token.py",
        "        if ended or self.user_id != owner.id or owner.status is not UserStatus.ACTIVE:",
        "        if ended or self.user_id != owner.id:",
        (f"{_API}/test_api_tokens.py",),
    ),
    Bug(
        "a token of somebody else can be deleted",
        "chalicelib/services/accounts/api_tokens.py",
        "        if token is None or not (_manages_users(actor) or token.user_id == actor.id):",
        "        if token is None:",
        (f"{_API}/test_api_tokens.py",),
    ),
    Bug(
        "an answer with a token is repeated in another session",
        "chalicelib/api/boundary.py",
        '    credential = actor.credential_id if actor.via == "token" or route.shows_secret else None',
        '    credential = actor.credential_id if actor.via == "token" else None',
        (f"{_API}/test_api_tokens.py", f"{_API}/test_users.py"),
    ),
    # secrets
    Bug(
        "a sealed secret is not bound to its field",
        "chalicelib/secrets/envelope.py",
        '    parts = ("v2", binding.secret_class, binding.id, binding.field, str(binding.version), key_id)',
        '    parts = ("v2", binding.secret_class, binding.id, str(binding.version), key_id)',
        ("tests/unit/secrets",),
    ),
    Bug(
        "a sealed secret is not bound to its row",
        "chalicelib/secrets/envelope.py",
        '    parts = ("v2", binding.secret_class, binding.id, binding.field, str(binding.version), key_id)',
        '    parts = ("v2", binding.secret_class, binding.field, str(binding.version), key_id)',
        ("tests/unit/secrets",),
    ),
    Bug(
        "a stored secret follows to another host",
        "chalicelib/domain/endpoint.py",
        "        if _target(address) == _target(self.address):\n            return",
        "        if self.credentials:\n            return",
        ("tests/unit/domain/test_endpoint.py", f"{_API}/test_secrets.py"),
    ),
    Bug(
        "references to secrets are accepted in texts of users",
        "chalicelib/api/inputs.py",
        '    if "${" in text:',
        '    if "$[" in text:',
        ("tests/unit/api/test_inputs.py",),
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
        "chalicelib/clients/addresses.py",
        "            if reason := refusal(text, allow_loopback=self.allow_loopback, allow_private=self.allow_private):",
        "            if reason := refusal(text, allow_loopback=True, allow_private=self.allow_private):",
        ("tests/unit/clients", "tests/integration/test_ssrf.py"),
    ),
    Bug(
        "names of private networks are allowed for webhooks",
        "chalicelib/clients/addresses.py",
        "        if not self.allow_private and (reason := name_refusal(host)):",
        "        if self.allow_private and (reason := name_refusal(host)):",
        ("tests/unit/clients", "tests/integration/test_ssrf.py"),
    ),
    Bug(
        "only the first address of a name is checked",
        "chalicelib/clients/addresses.py",
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
    # the integrity of the audit trail
    Bug(
        "a link is signed without the link before it",
        "chalicelib/domain/integrity/chain.py",
        "sorted(row.items()), head.mac)",
        'sorted(row.items()), "")',
        _INTEGRITY,
    ),
    Bug(
        "a head is written whatever the head was before",
        "chalicelib/stores/audit_chain.py",
        "ChainRow.mac == self._before.mac if self._before.sequence else ChainRow.sequence.does_not_exist()",
        "ChainRow.shard.exists() if self._before.sequence else ChainRow.sequence.does_not_exist()",
        _INTEGRITY,
    ),
    Bug(
        "the tag of a head is not verified",
        "chalicelib/services/audit_integrity/verification.py",
        "stored is None or not is_genuine(self.key, stored) or",
        "stored is None or",
        _INTEGRITY,
    ),
    Bug(
        "records that no link names are overlooked",
        "chalicelib/services/audit_integrity/verification.py",
        "elif link is None or link.position != row.position:",
        "elif link is None:",
        _INTEGRITY,
    ),
    Bug(
        "the dispatcher signs whatever it finds",
        "chalicelib/services/audit_integrity/anchors.py",
        "        if changed or not self.is_genuine(last):",
        "        if not self.is_genuine(last):",
        _INTEGRITY,
    ),
    Bug(
        "refusals have no bound",
        "chalicelib/services/audit_integrity/refusals.py",
        "return total if total <= each or _doubled(total - more, total, each) else None",
        "return total",
        _INTEGRITY,
    ),
)
