"""A simulated rig, a program of its own: it performs actions and answers with what it measured.

Over HTTP, one action per request:

    python rig.py serve --port 8200
    POST /perform {"target": "heater", "value": 80}   ->   {"heater": 80.0, "temperature": ...}

Or by files, many actions at once, as an instrument that works through a list:

    python rig.py answer actions.csv outcomes.csv
"""

import argparse
import csv
import json
import random
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

ORDER = ("heater", "stirrer", "temperature", "yield")
HIDDEN = {
    "heater": ({}, 1.0, 0.9),
    "stirrer": ({}, 0.5, 1.1),
    "temperature": ({"heater": 0.9}, 4.0, 1.0),
    "yield": ({"temperature": 0.7, "stirrer": -0.6}, -3.0, 1.2),
}
"""What nobody knows: causes with their weights, a constant, and the size of the noise."""


def perform(target: str | None, value: float | None, noise: random.Random) -> dict[str, float]:
    """Set a variable, or nothing, and measure all of them."""
    measured: dict[str, float] = {}
    for name in ORDER:
        causes, constant, spread = HIDDEN[name]
        drawn = noise.gauss(0.0, spread)
        effect = sum(weight * measured[cause] for cause, weight in causes.items())
        measured[name] = (
            value if name == target and value is not None else constant + effect + drawn
        )
    return measured


def serve(port: int, noise: random.Random) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(perform(asked["target"], asked["value"], noise)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: the campaign keeps the log."""

    server = HTTPServer(("127.0.0.1", port), Answer)
    print(f"The rig is at http://127.0.0.1:{server.server_port}/perform", flush=True)
    server.serve_forever()


def answer(actions: str, outcomes: str, noise: random.Random) -> None:
    with Path(actions).open(newline="") as file:
        asked = list(csv.DictReader(file))
    with Path(outcomes).open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", *ORDER])
        writer.writeheader()
        for row in asked:
            value = float(row["value"]) if row["value"] else None
            writer.writerow({"id": row["id"]} | perform(row["target"] or None, value, noise))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=None)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("serve").add_argument("--port", type=int, default=8200)
    by_file = verbs.add_parser("answer")
    by_file.add_argument("actions")
    by_file.add_argument("outcomes")
    given = parser.parse_args()
    if given.verb == "serve":
        serve(given.port, random.Random(given.seed))
    else:
        answer(given.actions, given.outcomes, random.Random(given.seed))
