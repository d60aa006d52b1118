"""Who may write, and what a browser may do with the page.

On this machine alone, anyone at it may write; other sites open in the same browser may not, and the
page answers to no name but this machine's (else a foreign name could be made to point here). From
other machines, reading is free and writing needs the token.
"""

import hmac
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE: Final = "causalfocus_token"
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def is_loopback(host: str) -> bool:
    return host in LOOPBACK


@dataclass(frozen=True)
class Guard:
    """What is let through.

    Attributes
    ----------
    host : the address that the page is served at
    token : needed for writing; None on this machine alone
    """

    host: str
    token: str | None

    def refusal(self, request: Request) -> str | None:
        """Why a request is not answered at all."""
        if is_loopback(self.host) and _name(request) not in LOOPBACK:
            return "This page answers to this machine's own names only."
        return None

    def may_write(self, request: Request) -> bool:
        """Whether whoever asks has the token, where one is needed."""
        if self.token is None:
            return True
        given = request.cookies.get(COOKIE) or request.headers.get("X-Token") or ""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def refusal_to_write(self, request: Request) -> str | None:
        """Why something may not be changed by this request."""
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.headers.get("Host"):
            return "This came from another site."
        if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            return "This came from another site."
        if not self.may_write(request):
            return "Writing from another machine needs the token: open the address that has it."
        return None


class Guarded:
    """Lets nothing through that the guard refuses, and tells browsers to be strict.

    Parameters
    ----------
    app : what is guarded
    guard : who may do what
    """

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def strictly(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._guard.refusal(Request(scope))
        answer = self._app if refusal is None else PlainTextResponse(refusal, 403)
        await answer(scope, receive, strictly)


def _name(request: Request) -> str:
    """The host's name as the browser knows it, without the port."""
    return urlsplit(f"//{request.headers.get('Host', '')}").hostname or ""
