"""Builds what people and their programs sign in with."""

from collections.abc import Callable

from chalicelib.domain.access import Role
from chalicelib.domain.accounts.sign_in_rules import SignInRules
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Signer
from chalicelib.services.accounts.api_tokens import ApiTokenService
from chalicelib.services.accounts.invites import InviteService
from chalicelib.services.accounts.login_throttle import LoginThrottle
from chalicelib.services.accounts.own_sessions import OwnSessions
from chalicelib.services.accounts.second_factor import SecondFactors
from chalicelib.services.accounts.second_factor_setup import SecondFactorSetup
from chalicelib.services.accounts.sessions import SessionService
from chalicelib.services.accounts.single_sign_on import SingleSignOn
from chalicelib.services.accounts.users import UserService
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.credentials import CredentialVault
from chalicelib.settings import Settings
from chalicelib.stores.accounts.group import AccountStores
from chalicelib.wiring.clients import Clients


class Accounts:
    """Users, invites, sessions, second factors, API tokens, and single sign-on where the installation has it."""

    def __init__(
        self,
        config: Settings,
        *,
        stores: AccountStores,
        vault: CredentialVault,
        audit: AuditTrail,
        make: Clients,
        signer: Callable[[], Signer],
        clock: Clock,
    ) -> None:
        rules = _rules(config)
        self.users = UserService(stores=stores, vault=vault, audit=audit, clock=clock)
        self.invites = InviteService(store=stores.users, rules=rules, audit=audit, clock=clock)
        self.api_tokens = ApiTokenService(store=stores.api_tokens, audit=audit, clock=clock)
        throttle = LoginThrottle(store=stores.login_tries, audit=audit, clock=clock)
        self._build_sessions(rules, throttle, stores, vault, audit, clock)
        self.single_sign_on: SingleSignOn | None = None
        if config.oidc:
            self.single_sign_on = SingleSignOn(
                provider=make.openid(config.oidc, clock),
                roles={group: Role(role) for group, role in config.oidc.roles},
                link_accounts=config.oidc.link_accounts,
                rules=rules,
                public_url=config.public_url or "",
                users=stores.users,
                sessions=self.sessions,
                throttle=throttle,
                audit=audit,
                signer=signer,
                clock=clock,
            )

    def _build_sessions(
        self,
        rules: SignInRules,
        throttle: LoginThrottle,
        stores: AccountStores,
        vault: CredentialVault,
        audit: AuditTrail,
        clock: Clock,
    ) -> None:
        factors = SecondFactors(tries=stores.login_tries, vault=vault, throttle=throttle, audit=audit, clock=clock)
        self.sessions = SessionService(
            stores=stores, rules=rules, throttle=throttle, second_factors=factors, audit=audit, clock=clock
        )
        self.own_sessions = OwnSessions(stores=stores, sessions=self.sessions, audit=audit, clock=clock)
        self.second_factor = SecondFactorSetup(
            users=stores.users,
            sessions=self.sessions,
            own_sessions=self.own_sessions,
            throttle=throttle,
            factors=factors,
            vault=vault,
            audit=audit,
            clock=clock,
        )


def _rules(config: Settings) -> SignInRules:
    return SignInRules(
        password_login=config.password_login,
        first_admin=config.admin_email,
        second_factor_required=config.require_second_factor,
    )
