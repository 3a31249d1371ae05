"""Routes of users and invites."""

from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.users import (
    AcceptBody,
    AcceptedOutput,
    InviteBody,
    InvitedOutput,
    InviteOutput,
    RoleBody,
    UserOutput,
)
from chalicelib.api.framework.http import HttpRequest, JsonResponse
from chalicelib.api.framework.route import InvitePath, UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.accounts.user import User
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Users")


@routes.get("/users", needs=Permission.MANAGE_USERS)
def list_users(query: ListQuery) -> Page[UserOutput]:
    """List users, newest first."""
    return services().users.list(limit=query.limit, after=query.after).map(UserOutput.of)


@routes.post(
    "/users/invite",
    needs=Permission.MANAGE_USERS,
    status=201,
    location="/api/v1/users/{id}",
    shows_secret=True,
    has_dry_run=True,
)
def invite_user(context: RequestContext, request: HttpRequest, body: InviteBody) -> InvitedOutput:
    """Invite somebody, for 72 hours. Somebody who has not joined yet can be invited again: the earlier invite ends."""
    # Without a public URL the link is relative: the Host header is the caller's word, and the link carries the token.
    base_url = services().settings.public_url or request.base
    return InvitedOutput.under(base_url, services().invites.invite(context, body.email, body.role))


@routes.get("/users/{uuid}", needs=Permission.MANAGE_USERS)
def get_user(uuid: UuidPath) -> JsonResponse[UserOutput]:
    """Show a user."""
    return _with_version(services().users.get(uuid))


@routes.patch("/users/{uuid}/role", needs=Permission.MANAGE_USERS)
def change_user_role(context: RequestContext, uuid: UuidPath, body: RoleBody) -> JsonResponse[UserOutput]:
    """Give a user another role. It counts from the next request, for sessions and tokens."""
    return _with_version(services().users.change_role(context, uuid, body.role))


@routes.post("/users/{uuid}/disable", needs=Permission.MANAGE_USERS)
def disable_user(context: RequestContext, uuid: UuidPath) -> JsonResponse[UserOutput]:
    """End all sessions of a user for good; tokens work again when the user is enabled."""
    return _with_version(services().users.disable(context, uuid))


@routes.post("/users/{uuid}/enable", needs=Permission.MANAGE_USERS)
def enable_user(context: RequestContext, uuid: UuidPath) -> JsonResponse[UserOutput]:
    """Let a disabled user sign in again. One who never joined has to be invited again."""
    return _with_version(services().users.enable(context, uuid))


@routes.delete("/users/{uuid}/totp", needs=Permission.MANAGE_USERS, status=204, has_dry_run=True)
def remove_second_factor_of_user(context: RequestContext, uuid: UuidPath) -> None:
    """Remove the second factor of somebody who has lost it. Their sessions end."""
    services().second_factor.remove_of(context, uuid)


@routes.delete("/users/{uuid}", needs=Permission.MANAGE_USERS, status=204, has_dry_run=True)
def delete_user(context: RequestContext, uuid: UuidPath) -> None:
    """Remove a user with all sessions and tokens."""
    services().users.delete(context, uuid)


def _with_version(user: User) -> JsonResponse[UserOutput]:
    """The contract's fields of a user have no version: it is in the ETag, for `If-Match`."""
    return JsonResponse(body=UserOutput.of(user), status=200, headers={"ETag": f'"{user.version}"'})


@routes.get("/invites/{token}", needs=Permission.PUBLIC)
def get_invite(token: InvitePath) -> InviteOutput:
    """Show an invite. One that is unknown, used or expired is not found."""
    return InviteOutput.of(services().invites.find(token))


@routes.post("/invites/{token}/accept", needs=Permission.PUBLIC)
def accept_invite(context: RequestContext, token: InvitePath, body: AcceptBody) -> AcceptedOutput:
    """Join, with a password of 12 to 256 characters. The invite is used up."""
    joined = services().invites.accept(context, token, Secret(body.password.get_secret_value()))
    return AcceptedOutput(user=UserOutput.of(joined))
