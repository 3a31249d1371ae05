"""Builds what people and their programs sign in with."""

from collections.abc import Callable

from chalicelib.domain.access import Role
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Signer
from chalicelib.services.accounts.api_tokens import ApiTokenService
from chalicelib.services.accounts.invites import InviteService
from chalicelib.services.accounts.login_throttle import LoginThrottle
from chalicelib.services.accounts.sessions import SessionService
from chalicelib.services.accounts.single_sign_on import SingleSignOn
from chalicelib.services.accounts.users import UserService
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.settings import Settings
from chalicelib.stores.accounts.group import AccountStores
from chalicelib.wiring.clients import Clients


class Accounts:
    """Users, invites, sessions, API tokens, and single sign-on where the installation has it."""

    def __init__(
        self,
        config: Settings,
        *,
        stores: AccountStores,
        audit: AuditTrail,
        make: Clients,
        signer: Callable[[], Signer],
        clock: Clock,
    ) -> None:
        self.users = UserService(stores=stores, audit=audit, clock=clock)
        self.invites = InviteService(store=stores.users, audit=audit, clock=clock)
        self.api_tokens = ApiTokenService(store=stores.api_tokens, audit=audit, clock=clock)
        throttle = LoginThrottle(store=stores.login_tries, audit=audit, clock=clock)
        self.sessions = SessionService(stores=stores, throttle=throttle, audit=audit, clock=clock)
        self.single_sign_on: SingleSignOn | None = None
        if config.oidc:
            self.single_sign_on = SingleSignOn(
                provider=make.openid(config.oidc, clock),
                roles={group: Role(role) for group, role in config.oidc.roles},
                link_accounts=config.oidc.link_accounts,
                public_url=config.public_url or "",
                users=stores.users,
                sessions=self.sessions,
                throttle=throttle,
                audit=audit,
                signer=signer,
                clock=clock,
            )
