"""Bugs of access: permissions, sessions, passwords, users, tokens."""

from tests.seeded_bugs.bug import Bug

_SESSIONS = ("tests/unit/domain/accounts", "tests/service/accounts")
_API = "tests/integration/api"

ACCESS_BUGS: tuple[Bug, ...] = (
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
        "chalicelib/api/framework/boundary.py",
        "    if actor.role is None or not may(actor.role, route.needs):",
        "    if actor.role is None:",
        ("tests/unit/api/framework/test_boundary.py", f"{_API}/test_permissions.py"),
    ),
    Bug(
        "a denial is not audited",
        "chalicelib/api/framework/boundary.py",
        "            self._dependencies().record_denial(context, route, request, refused)",
        "            pass",
        ("tests/unit/api/framework/test_boundary.py", f"{_API}/test_audit.py"),
    ),
    Bug(
        "deleting a source needs only the permission to write",
        "chalicelib/api/routes/sources.py",
        '@routes.delete("/sources/{uuid}", needs=Permission.ADMINISTER',
        '@routes.delete("/sources/{uuid}", needs=Permission.WRITE',
        (f"{_API}/test_permissions.py",),
    ),
    Bug(
        "users are listed for everybody who may read",
        "chalicelib/api/routes/users.py",
        '@routes.get("/users", needs=Permission.MANAGE_USERS)',
        '@routes.get("/users", needs=Permission.READ)',
        (f"{_API}/test_permissions.py", f"{_API}/test_users.py"),
    ),
    Bug(
        "the service credential is not asked for",
        "chalicelib/api/framework/authentication.py",
        '        if not has_hash(bearer_token(headers) or "", self.service_credential_hash):',
        "        if not headers:",
        (f"{_API}/test_permissions.py",),
    ),
    # sessions and the CSRF rule
    Bug(
        "requests from other sites are accepted",
        "chalicelib/api/framework/authentication.py",
        "        if method not in _SAFE:\n            _refuse_cross_site(headers, actor)",
        "        if method in _SAFE:\n            _refuse_cross_site(headers, actor)",
        (f"{_API}/test_access.py",),
    ),
    Bug(
        "the origin is not compared",
        "chalicelib/api/framework/authentication.py",
        "(origin is not None and origin.lower() not in _own_origins(headers))",
        "(origin is not None and not origin)",
        (f"{_API}/test_access.py",),
    ),
    Bug(
        "the plain cookie counts over https",
        "chalicelib/api/framework/sent_credentials.py",
        "cookies.get(cookie) if on_plain_loopback(headers) else None)",
        "cookies.get(cookie))",
        ("tests/unit/api/framework/test_sent_credentials.py", f"{_API}/test_access.py"),
    ),
    Bug(
        "a cookie can be read by scripts",
        "chalicelib/api/framework/sent_credentials.py",
        "Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}",
        "Max-Age={seconds}; SameSite=Lax{secure}",
        (f"{_API}/test_access.py",),
    ),
    Bug(
        "with an invalid token the cookie counts",
        "chalicelib/api/framework/authentication.py",
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
        "        if replaces is not None:\n            self.stores.sessions.delete(transaction, _session_id(replaces))",
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
        "        password_hash = user.password_hash if user else None\n"
        "        verified = verify_password(password, password_hash)\n",
        "        password_hash = user.password_hash if user else None\n"
        "        verified = verify_password(password, password_hash)\n"
        "        admitted = self.throttle.admit(context, login, user.id if user else None)\n",
        _SESSIONS,
    ),
    Bug(
        "an unknown user costs no hash",
        "chalicelib/secrets/passwords.py",
        "            Argon2id.verify_phc_encoded(password.reveal().encode(), hashed or _unused_hash())",
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
        "(LoginTryRow.tries < limit.maximum)",
        "(LoginTryRow.tries >= 0)",
        _SESSIONS,
    ),
    Bug(
        "one try more than the limit",
        "chalicelib/stores/accounts/login_tries.py",
        "(LoginTryRow.tries < limit.maximum)",
        "(LoginTryRow.tries <= limit.maximum)",
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
        "            if not is_right or current is None or current.status is not UserStatus.ACTIVE:",
        "            if not is_right or current is None:",
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
        "        has_others = CountRow.ADMINS > 1 if change < 0 else None",
        "        has_others = None",
        ("tests/service/accounts", "tests/service/stores/accounts"),
    ),
    Bug(
        "an Admin who is made is not counted",
        "chalicelib/stores/accounts/users.py",
        "        count_admins(transaction, after.is_active_admin - before.is_active_admin)",
        "        count_admins(transaction, min(0, after.is_active_admin - before.is_active_admin))",
        ("tests/service/accounts", "tests/service/stores/accounts", f"{_API}/test_users.py"),
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
        ("tests/service/accounts",),
    ),
    Bug(
        "the random part of an invite is not compared",
        "chalicelib/services/accounts/invites.py",
        "        if user is None or invite is None or not has_hash(token, [invite.token_hash]):",
        "        if user is None or invite is None:",
        ("tests/service/accounts", f"{_API}/test_users.py"),
    ),
    Bug(
        "the random part of a token is not compared",
        "chalicelib/services/accounts/api_tokens.py",
        "        if not token or not owner or role is None or not has_hash(text, [token.token_hash]):",
        "        if not token or not owner or role is None:",
        ("tests/service/accounts", f"{_API}/test_api_tokens.py"),
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
        "chalicelib/api/framework/boundary.py",
        '    credential = actor.credential_id if actor.via == "token" or route.shows_secret else None',
        '    credential = actor.credential_id if actor.via == "token" else None',
        (f"{_API}/test_api_tokens.py", f"{_API}/test_users.py"),
    ),
)
