"""The documents hang together: links, files that they name, the index, the glossary."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_files_that_the_documents_name_exist() -> None:
    named = [
        (path.name, file)
        for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]
        for file in re.findall(r"`([a-z_/]+/[a-z_]+\.py)`", path.read_text())
    ]
    assert len(named) >= 10
    homes = (ROOT, ROOT / "src" / "causalfocus")
    assert [each for each in named if not any((home / each[1]).is_file() for home in homes)] == []


def test_the_links_between_the_documents_lead_somewhere() -> None:
    for path in [ROOT / "README.md", *ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_the_index_names_every_document() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    linked = set(re.findall(r"\]\(([a-z_]+\.md)\)", index))
    assert linked == {path.name for path in ROOT.glob("docs/*.md")} - {"index.md"}
    assert "(docs/index.md)" in (ROOT / "README.md").read_text()


def test_the_words_of_the_glossary_are_in_order() -> None:
    document = (ROOT / "docs" / "glossary.md").read_text()
    words = re.findall(r"^\*\*(.+?)\*\*", document, re.MULTILINE)
    assert len(words) > 30 and len(set(words)) == len(words)
    assert words == sorted(words, key=str.lower)
