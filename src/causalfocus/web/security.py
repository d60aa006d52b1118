"""Who may write, and what a browser may do with the page.

On this machine alone, anyone at it may write; other sites open in the same browser may not, and the
page answers to no name but this machine's (else a foreign name could be made to point here). From
other machines, reading is free and writing needs the token.
"""

import hmac
import re
import socket
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from causalfocus.errors import InvalidInputError

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
    names : other names that this machine goes by
    """

    host: str
    token: str | None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.token is not None and not re.fullmatch(r"[A-Za-z0-9_.~-]+", self.token):
            raise InvalidInputError(
                "A token consists of letters, digits and _ . ~ - without spaces, at least one."
            )

    def refusal(self, request: Request) -> str | None:
        """Why a request is not answered at all.

        Under an address in numbers nobody else's site can be behind; under a name it could.
        """
        name = _name(request)
        if name in LOOPBACK or name in self.names:
            return None
        if not is_loopback(self.host) and (_is_address(name) or name in _own_names()):
            return None
        return (
            "This page does not answer to that name. Use this machine's own name or address, or "
            "start the page with --allow-host."
        )

    def may_write(self, request: Request) -> bool:
        """Whether whoever asks has the token, where one is needed."""
        if self.token is None:
            return True
        return self.is_right(request.cookies.get(COOKIE) or request.headers.get("X-Token") or "")

    def is_right(self, given: str) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest(given.encode(errors="replace"), (self.token or "").encode())

    def refusal_to_write(self, request: Request) -> str | None:
        """Why something may not be changed by this request."""
        origin = request.headers.get("Origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("Host"):
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
    """The host's name as the browser knows it, without the port; empty if it makes no sense."""
    try:
        return urlsplit(f"//{request.headers.get('Host', '')}").hostname or ""
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@cache
def _own_names() -> frozenset[str]:
    """What this machine calls itself."""
    name = socket.gethostname().lower()
    return frozenset({name, f"{name}.local", socket.getfqdn().lower()})
