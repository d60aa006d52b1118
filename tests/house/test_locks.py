"""What `make demo` and `make test` install."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_demo_is_locked_to_the_versions_of_the_tests() -> None:
    all_of_it, demo = (
        set((ROOT / name).read_text().split())
        for name in ("requirements.lock", "requirements-demo.lock")
    )
    assert demo < all_of_it
    assert any(line.startswith("matplotlib==") for line in demo)
    assert not any(line.startswith(("pytest==", "dask==", "fastapi==")) for line in demo)
