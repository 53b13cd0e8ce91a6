r"""The summary of a sweep as LaTeX, to ``\input`` with the packages booktabs and longtable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
}
HEADINGS = ("instance", "policy", "$T$", "regret", r"$\pm$", "shortfall", r"95\%", "kept")


def as_latex(summary: polars.DataFrame) -> str:
    """Return a table that breaks over pages."""
    head = " & ".join(HEADINGS) + r" \\"
    lines = [
        r"% needs \usepackage{booktabs,longtable}",
        r"\begin{longtable}{llrrrrrr}",
        r"\toprule",
        head,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *(_row(line) for line in summary.to_dicts()),
        r"\end{longtable}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Return a text in which LaTeX finds no commands.

    >>> print(escaped("50% of a_b"), escaped("[1ex]"))
    50\% of a\_b {}[1ex]
    """
    plain = "".join(SPECIAL.get(sign, sign) for sign in text)
    return "{}" + plain if plain.startswith("[") else plain


def _row(line: dict[str, Any]) -> str:
    numbers = [line[key] for key in ("regret", "margin", "worst_shortfall", "shortfall_bulk")]
    shown = ["" if number is None else f"${number:.5f}$" for number in numbers]
    kept = rf"{line['all_kept']:.0%}".replace("%", r"\%")
    cells = [escaped(line["instance"]), escaped(line["label"]), str(line["horizon"]), *shown, kept]
    return " & ".join(cells) + r" \\"
