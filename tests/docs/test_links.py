"""Links and images lead somewhere, and no file names a place of the machine it was written on."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ASIDE = {".venv", ".git", "demo-study", "dist", "build"}
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)
MACHINE = re.compile(r"(?<![\w.~-])/(?:work|root|home|Users|tmp)/[\w.-]")


def markdown_files() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.md") if not ASIDE & set(path.relative_to(ROOT).parts))


def text_files() -> list[Path]:
    """What git tracks or would track; where git is not at hand, all that is no cache."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = listed.stdout.splitlines() if listed.returncode == 0 else []
    files = [ROOT / name for name in names] or [
        path
        for path in ROOT.rglob("*")
        if not any(part.startswith(".") or part in ASIDE for part in path.relative_to(ROOT).parts)
    ]
    return [path for path in files if path.is_file() and b"\0" not in path.read_bytes()]


def heading_ids(page: Path) -> set[str]:
    """The anchors that a page's headings make."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", markdown_files(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(page: Path) -> None:
    lost = []
    for link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in heading_ids(target)):
            lost.append(link)
    assert lost == []


def test_no_file_names_a_place_of_this_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in text_files()
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if MACHINE.search(line)
    ]
    assert found == []
