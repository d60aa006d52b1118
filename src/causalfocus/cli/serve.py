"""`causalfocus serve`: the page of a campaign."""

import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer

from causalfocus.campaign import Campaign, CampaignError
from causalfocus.errors import MissingExtraError


def serve(
    file: Annotated[
        Path, typer.Argument(help="The campaign's file; made through the page if new.")
    ],
    read_only: Annotated[
        bool, typer.Option("--read-only", help="To look and never to write.")
    ] = False,
    host: Annotated[
        str, typer.Option(help="The address to serve at; by default this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8123,
    token: Annotated[
        str | None,
        typer.Option(envvar="CAUSALFOCUS_TOKEN", help="For writing from other machines."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another name under which this machine is known; repeatable."),
    ] = None,
) -> None:
    """Show a campaign in the browser: what to do next, a form for the outcome, what is known."""
    try:
        import uvicorn

        from causalfocus.web import create_app
        from causalfocus.web.security import is_loopback
    except ImportError as error:
        raise MissingExtraError(
            f"The page needs {error.name}: install it with pip install 'causalfocus[web]'."
        ) from None
    if file.exists():
        Campaign.open(file, read_only=read_only).close()  # to fail here rather than in the browser
    elif read_only or not file.parent.is_dir():
        raise CampaignError(f"There is no file {file}.")
    token = token or None
    if not is_loopback(host) and token is None:
        token = secrets.token_urlsafe(16)
    names = tuple(name.lower() for name in allow_host or [])
    app = create_app(file, host=host, token=token, names=names, read_only=read_only)
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1
    )
    socket = config.bind_socket()
    socket.listen()  # who reads the address below finds someone there
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{socket.getsockname()[1]}/"
    sys.stdout.write(f"{file} is at {address}\n")
    if token is not None and not read_only:
        sys.stdout.write(f"To write, open it with the token: {address}?token={token}\n")
    if not is_loopback(host):
        sys.stdout.write(
            "Other machines can read it. The connection is not encrypted: use it in a network "
            "that you trust.\n"
        )
    sys.stdout.write("Ctrl-C ends it; nothing is lost.\n")
    sys.stdout.flush()
    uvicorn.Server(config).run(sockets=[socket])
