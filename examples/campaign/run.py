"""A whole campaign against the rig, through the command line alone: what a person would type.

    python run.py [FOLDER]

Leaves FOLDER/reactor.campaign with every step in it, and FOLDER/report.html. Interrupt it and start
it again: it goes on where it was.
"""

import csv
import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BATCH = 200
NOT_STOPPED = 3


def campaign(*words: str | Path) -> str:
    """A verb of `causalfocus campaign`; its output."""
    command = [sys.executable, "-m", "causalfocus", "campaign", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, NOT_STOPPED):
        raise SystemExit(done.stderr)
    return done.stdout


def perform(address: str, action: dict[str, Any]) -> dict[str, float]:
    """Ask the rig to do it."""
    body = json.dumps({"target": action["target"], "value": action["value"]}).encode()
    with urllib.request.urlopen(urllib.request.Request(address, body)) as answer:
        return json.load(answer)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    file, outcomes = folder / "reactor.campaign", folder / "outcomes.csv"
    if not file.exists():
        print(campaign("new", file, "--spec", HERE / "reactor.yaml"), end="")
    seed = json.loads(campaign("status", file, "--json"))["rounds"]  # never the same noise again
    rig = subprocess.Popen(
        [sys.executable, str(HERE / "rig.py"), "--seed", str(seed), "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = rig.stdout.readline().split()[-1]
        while (now := json.loads(campaign("status", file, "--json")))["state"] == "running":
            shown = "none yet" if now["evidence"] is None else f"{now['evidence']:.2f}"
            print(f"{now['rounds']} rounds, evidence {shown} of {now['threshold']:.2f}", flush=True)
            actions = now["pending"] or json.loads(
                campaign("next", file, "-n", str(BATCH), "--json")
            )
            with outcomes.open("w", newline="") as target:
                rows = [{"id": action["id"]} | perform(address, action) for action in actions]
                writer = csv.DictWriter(target, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
            campaign("record", file, "--csv", outcomes, "--who", "rig")
    finally:
        rig.terminate()
        rig.wait()
    print(now["statement"])
    print(now["equations"])
    print(campaign("report", file, "--out", folder / "report.html"), end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/reactor"))
