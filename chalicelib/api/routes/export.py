"""The route of the export."""

from chalicelib.api.contract.export import ExportOutput, export_page
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.framework.http import WithList
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.wiring import services

routes = Router(tag="System")


@routes.get("/export", needs=Permission.ADMINISTER)
def export_definitions(context: RequestContext, query: ListQuery) -> WithList[ExportOutput]:
    """Show the definitions of everything that is registered, without secrets and people, for another installation.

    A large one takes several requests: go on with the `X-Next-Cursor` until there is none.
    """
    page = export_page(services().export.begin(context, query.after), query.limit)
    return WithList(body=ExportOutput.of_page(page, services().clock()), page=page.only(lambda _: False))
