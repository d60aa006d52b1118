"""Commands as a user runs them."""

import subprocess
import sys
from pathlib import Path


def causalfocus(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "causalfocus", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )
