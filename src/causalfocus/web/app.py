"""The web application: addresses and what they give."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.concurrency import run_in_threadpool

from causalfocus.campaign import Campaign
from causalfocus.campaign.export import samples_csv, whole_json
from causalfocus.errors import AlreadyStoppedError, CausalFocusError, InvalidInputError
from causalfocus.report.campaign_report import report_html
from causalfocus.web.forms import FieldError, fields_of
from causalfocus.web.security import COOKIE, Guard, Guarded
from causalfocus.web.server import Server
from causalfocus.web.verbs import VERBS

HOME: Final = Path(__file__).parent
STATIC: Final = {
    "icon.svg": (HOME / "static" / "icon.svg", "image/svg+xml"),
    "page.css": (HOME / "static" / "page.css", "text/css"),
    "page.js": (HOME / "static" / "page.js", "text/javascript"),
    "style.css": (HOME.parent / "report" / "style.css", "text/css"),
}
LOOK_EVERY: Final = 0.5
"""Seconds between looks at the file for what others have recorded."""

STILL_HERE: Final = 30
"""Looks without news after which the connection is kept alive."""


def create_app(
    path: Path,
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    names: tuple[str, ...] = (),
    read_only: bool = False,
) -> FastAPI:
    """The application that serves a campaign.

    Parameters
    ----------
    path : of the campaign, which may not exist yet
    host : the address that it will be served at
    token : needed for writing
    names : other names under which it may be asked for
    read_only : nobody may write
    """
    server = Server(path, Guard(host, token, names), read_only=read_only)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        server.close()

    app = FastAPI(
        title="causalfocus", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    app.add_middleware(Guarded, guard=server.guard)
    _add_refusals(app, server)
    _add_pages(app, server)
    _add_downloads(app, server)
    _add_verbs(app, server)
    return app


def _add_refusals(app: FastAPI, server: Server) -> None:
    @app.exception_handler(FieldError)
    async def wrong_fields(request: Request, error: FieldError) -> Response:
        return await _refuse(request, server, error.errors, 422)

    @app.exception_handler(CausalFocusError)
    async def wrong(request: Request, error: CausalFocusError) -> Response:
        status = 422 if isinstance(error, InvalidInputError | AlreadyStoppedError) else 503
        if request.method == "POST":
            return await _refuse(request, server, {"": str(error)}, status)
        return PlainTextResponse(str(error), status)


async def _refuse(
    request: Request, server: Server, errors: dict[str, str], status: int
) -> Response:
    """With the reason beside each field: for the page's script, or as a page."""
    if _wants_json(request):
        return JSONResponse({"errors": errors}, status)
    fields = getattr(request.state, "fields", {})
    text = await run_in_threadpool(server.page, request, errors, fields)
    return HTMLResponse(text, status)


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("Accept", "")


def _add_pages(app: FastAPI, server: Server) -> None:
    @app.get("/")
    def page(request: Request) -> Response:
        token = request.query_params.get("token")
        if token is not None:  # into a cookie, and out of the address
            response = RedirectResponse("/", 303)
            if server.guard.is_right(token):
                response.set_cookie(COOKIE, token, httponly=True, samesite="strict")
            return response
        return HTMLResponse(server.page(request, {}, {}))

    @app.get("/parts")
    def parts(request: Request) -> Response:
        return JSONResponse(server.parts(request))

    @app.get("/changes")
    async def changes(request: Request) -> Response:
        return StreamingResponse(_changes(request, server), media_type="text/event-stream")

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in STATIC:
            return PlainTextResponse("There is no such file.", 404)
        path, kind = STATIC[name]
        return FileResponse(path, media_type=kind)


async def _changes(request: Request, server: Server) -> AsyncIterator[str]:
    """The number of the last event, whenever it changes."""
    before, quiet = -2, 0
    while not await request.is_disconnected():
        last = await run_in_threadpool(server.last_event)
        if last != before:
            before, quiet = last, 0
            yield f"data: {last}\n\n"
        elif (quiet := quiet + 1) >= STILL_HERE:
            quiet = 0
            yield ": still here\n\n"
        await asyncio.sleep(LOOK_EVERY)


def _add_downloads(app: FastAPI, server: Server) -> None:
    @app.get("/samples.csv")
    def samples() -> Response:
        return StreamingResponse(
            _lines(server), media_type="text/csv", headers=_as_attachment("csv")
        )

    @app.get("/campaign.json")
    def whole() -> Response:
        with Campaign.open(server.path, read_only=True) as campaign:
            text = whole_json(campaign)
        return Response(text, media_type="application/json", headers=_as_attachment("json"))

    @app.get("/report.html")
    def report() -> Response:
        with Campaign.open(server.path, read_only=True) as campaign:
            text = report_html(campaign)
        return HTMLResponse(text, headers=_as_attachment("html"))


def _lines(server: Server) -> Iterator[str]:
    with Campaign.open(server.path, read_only=True) as campaign:
        yield from samples_csv(campaign)


def _as_attachment(kind: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="campaign.{kind}"'}


def _add_verbs(app: FastAPI, server: Server) -> None:
    @app.post("/{name}")
    async def write(name: str, request: Request) -> Response:
        refusal = server.guard.refusal_to_write(request)
        if server.read_only:
            refusal = "This page is for reading only."
        if refusal is not None:
            return JSONResponse({"errors": {"": refusal}}, 403)
        if name not in VERBS:
            return PlainTextResponse("There is no such verb.", 404)
        request.state.fields = fields = await fields_of(request)
        done = await run_in_threadpool(VERBS[name], server, fields)
        return JSONResponse(done) if _wants_json(request) else RedirectResponse("/", 303)
