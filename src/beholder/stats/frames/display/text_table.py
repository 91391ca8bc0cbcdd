"""A table as rows of text, and its forms: aligned columns, Markdown, LaTeX with booktabs, HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "−": r"$-$",
    "–": "--",
    "…": r"\dots{}",
    "′": "$'$",
    "∞": r"$\infty$",
    "α": r"$\alpha$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
}
"""What a character is written as in LaTeX; others stand for themselves."""

NUMBER = "text-align: right; padding: 2px 10px; white-space: nowrap; font-variant-numeric: tabular-nums"
TEXT = "text-align: left; padding: 2px 10px"
NOTE = "color: #6b7280; font-size: 90%; text-align: left; caption-side: bottom; padding: 2px 10px"
"""How cells and the lines below the table look in a notebook."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """Heads and cells as text, columns of numbers to the right, and what stands above and below."""

    title: str
    heads: tuple[str, ...]
    numeric: tuple[bool, ...]
    cells: tuple[tuple[str, ...], ...]
    footer: tuple[str, ...]

    def plain(self) -> str:
        """Return aligned columns for a terminal."""
        lines = (self.heads, *self.cells)
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.heads))]
        aligned = ["  ".join(self._padded(line, widths)).rstrip() for line in lines]
        rule = "─" * max(len(line) for line in aligned)
        return "\n".join([self.title, aligned[0], rule, *aligned[1:], *self.footer])

    def markdown(self) -> str:
        """Return a table of pipes, as GitHub and most sites read it."""
        marks = ["---:" if number else "---" for number in self.numeric]
        lines = [[_escaped_pipes(cell) for cell in line] for line in (self.heads, *self.cells)]
        return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], marks, *lines[1:]))

    def latex(self, *, caption: str = "", label: str = "") -> str:
        """Return a ``tabular`` with the rules of booktabs, in a ``table`` where it has a caption or label."""
        tabular = [
            *(f"% {line}" for line in (self.title, *self.footer)),
            rf"\begin{{tabular}}{{{''.join('r' if number else 'l' for number in self.numeric)}}}",
            r"\toprule",
            _latex_row(self.heads),
            r"\midrule",
            *(_latex_row(line) for line in self.cells),
            r"\bottomrule",
            r"\end{tabular}",
        ]
        if not caption and not label:
            return "\n".join(tabular)
        above = [r"\begin{table}", r"\centering"]
        above += [rf"\caption{{{latex_text(caption)}}}"] if caption else []
        above += [rf"\label{{{label}}}"] if label else []
        return "\n".join([*above, *tabular, r"\end{table}"])

    def html(self) -> str:
        """Return a table for a notebook."""
        table = ElementTree.Element("table", {"class": "beholder-table"})
        caption = ElementTree.SubElement(table, "caption", {"style": NOTE})
        for place, note in enumerate(self.footer):
            if place:
                ElementTree.SubElement(caption, "br")
            ElementTree.SubElement(caption, "span").text = note
        head = ElementTree.SubElement(table, "thead")
        if self.title:
            title = ElementTree.SubElement(ElementTree.SubElement(head, "tr"), "th")
            title.attrib |= {"colspan": str(len(self.heads)), "style": TEXT}
            title.text = self.title
        self._html_row(head, "th", self.heads)
        body = ElementTree.SubElement(table, "tbody")
        for line in self.cells:
            self._html_row(body, "td", line)
        return ElementTree.tostring(table, encoding="unicode", method="html")

    def _padded(self, line: Sequence[str], widths: Sequence[int]) -> list[str]:
        return [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, self.numeric, strict=True)
        ]

    def _html_row(self, parent: ElementTree.Element, tag: str, line: Sequence[str]) -> None:
        row = ElementTree.SubElement(parent, "tr")
        for cell, number in zip(line, self.numeric, strict=True):
            ElementTree.SubElement(row, tag, {"style": NUMBER if number else TEXT}).text = cell


def latex_text(text: str) -> str:
    """Return text with what LaTeX would misread escaped.

    Example:
        >>> latex_text("95 % CI of α_1")
        '95 \\\\% CI of $\\\\alpha$\\\\_1'
    """
    return "".join(LATEX.get(character, character) for character in text)


def _latex_row(line: Sequence[str]) -> str:
    return " & ".join(latex_text(cell) for cell in line) + r" \\"


def _escaped_pipes(cell: str) -> str:
    return cell.replace("|", r"\|")
