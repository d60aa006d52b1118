"""`causalfocus campaign`: from a rig to a certificate, a sample at a time."""

import typer

from causalfocus.cli.campaign.acting import go_on, next_actions, note, record, reject
from causalfocus.cli.campaign.files import export, import_, verify
from causalfocus.cli.campaign.following import predict, reach
from causalfocus.cli.campaign.mending import add, correct, take_back, widen, withdraw
from causalfocus.cli.campaign.new import new
from causalfocus.cli.campaign.reporting import report
from causalfocus.cli.campaign.sheets import sheet
from causalfocus.cli.campaign.show import show_status

campaign = typer.Typer(
    help="A durable campaign: ask, record, stop with a certificate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
campaign.command("new")(new)
campaign.command("next")(next_actions)
campaign.command("sheet")(sheet)
campaign.command("record")(record)
campaign.command("reject")(reject)
campaign.command("correct")(correct)
campaign.command("withdraw")(withdraw)
campaign.command("take-back")(take_back)
campaign.command("widen")(widen)
campaign.command("add")(add)
campaign.command("import")(import_)
campaign.command("status")(show_status)
campaign.command("predict")(predict)
campaign.command("reach")(reach)
campaign.command("note")(note)
campaign.command("go-on")(go_on)
campaign.command("report")(report)
campaign.command("export")(export)
campaign.command("verify")(verify)

__all__ = ["campaign"]
