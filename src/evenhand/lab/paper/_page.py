"""The reproduction as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from evenhand.core.html import Section, gallery, page, table
from evenhand.core.storage import write_text
from evenhand.lab.judging import Verdict
from evenhand.lab.paper._drawing import DrawnFigure
from evenhand.lab.paper._evidence import Evidence
from evenhand.lab.paper.movielens.releases import SYNTHETIC
from evenhand.lab.paper.settings import SEED, SETTING_1, SETTING_2, Setting, note_of
from evenhand.lab.verdict_page import counts, verdict_table

PAPER = (
    "Huang, Xu, Hu, Wang, Pan: Thompson Sampling for Combinatorial Semi-bandits with Sleeping Arms "
    "and Long-Term Fairness Constraints"
)


def write_page(
    path: Path, evidence: Evidence, verdicts: Sequence[Verdict], figures: Sequence[DrawnFigure]
) -> Path:
    """Write the page and return where it is."""
    sections = [
        Section(
            "The claims", summary(verdicts) + verdict_table(verdicts, "The paper says", "Section ")
        ),
        Section(
            "The figures", gallery([(drawn.path.read_bytes(), drawn.caption) for drawn in figures])
        ),
        Section("The settings and their exact optimum", settings(evidence)),
        Section("How it was run", origin(evidence)),
    ]
    if evidence.movies:
        sections.insert(3, Section("The movies", movies(evidence.movies)))
    banner = (
        f"This is a {note_of(evidence.size)}. Not a reproduction." if evidence.size.quick else ""
    )
    write_text(path, page("The paper, reproduced and audited", PAPER, sections, banner))
    return path


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return how many claims have which verdict; those on synthetic data are counted apart."""
    real = [verdict for verdict in verdicts if SYNTHETIC not in verdict.claim.says]
    made_up = [verdict for verdict in verdicts if SYNTHETIC in verdict.claim.says]
    apart = f" On the {SYNTHETIC}: {counts(made_up)}." if made_up else ""
    return (
        f"<p>{len(real)} statements: {counts(real)}.{apart} Verdicts are computed from the "
        "results by rules; a claim opens to show its own, and everything that was measured. It is "
        "undecided where the 95% interval of the deciding number reaches across the bound, and no "
        "other form of the debt settles it. “As "
        "published” means the paper's Eq. (5) for TSCSF-B and the reflected queue for LFG; the "
        "other form is the reflected queue for both, as in the paper's proof, or Eq. (5) for "
        "both.</p>"
    )


def settings(evidence: Evidence) -> str:
    """Return both settings with floors, prices and optimal rates."""
    return "".join(_setting(evidence, setting) for setting in (SETTING_1, SETTING_2))


def _setting(evidence: Evidence, setting: Setting) -> str:
    best = evidence.optimum(setting)
    rows = [
        [
            str(i + 1),
            f"{setting.means[i]:g}",
            f"{setting.availability[i]:g}",
            f"{setting.floors[i]:g}",
            f"{best.rates[i]:.4f}",
            f"{best.prices[i]:.4f}",
        ]
        for i in range(len(setting.means))
    ]
    title = setting.id.replace("setting", "Setting ")
    head = (
        f"<p><strong>{title}</strong>: at most {setting.plays} plays a round. Opt-F "
        f"{best.with_floors:.8g}, Opt-NF {best.without_floors:.8g}; all floors could be scaled by "
        f"{best.floor_headroom:.4g}.</p>"
    )
    return head + table(["arm", "mean", "availability", "floor", "optimal rate", "price"], rows)


def movies(summary: Mapping[str, Any]) -> str:
    """Return the movies with their ratings, and what was found of the optimum in both ways."""
    rows = [
        [
            movie["title"],
            f"{movie['ratings']:,}",
            f"{movie['mean']:.2f}",
            f"{movie['availability']:.3f}",
        ]
        for movie in summary["movies"]
    ]
    joint, paper = summary["optimum"]["joint"], summary["optimum"]["paper"]
    words = f"Opt-F of the awake sets that occur {_found(joint)}"
    if paper:
        words += (
            " Opt-F as the paper describes it, with genre shares as independent availabilities, "
            f"{_found(paper)}"
        )
    note = f'<p class="banner">{escape(summary["note"])}</p>' if summary["note"] else ""
    head = f"<p>{escape(summary['release'])}: {summary['users']:,} users. {escape(words)}</p>"
    return note + head + table(["movie", "ratings", "mean rating", "availability"], rows)


def _found(optimum: Mapping[str, Any]) -> str:
    """Say what an optimum is, or why there is none."""
    if optimum["feasible"]:
        return f"is {optimum['with_floors']:.5f}."
    certificate = optimum["certificate"]
    return (
        f"does not exist: the floors promise {certificate['promised']:.3g} plays a round to "
        f"{len(certificate['arms'])} movies that could be given {certificate['possible']:.3g}."
    )


def origin(evidence: Evidence) -> str:
    """Return seeds, versions, and what was played."""
    first = next(iter(evidence.results.values()), None)
    if first is None:
        return "<p>Nothing was simulated.</p>"
    versions = ", ".join(
        f"{name} {number}" for name, number in first.provenance["versions"].items()
    )
    rows = [
        [cell, str(len(results.labels)), str(results.replications), f"{results.horizon:,}"]
        for cell, results in evidence.results.items()
    ]
    head = (
        f"<p>Seed {SEED}; {versions}; commit {first.provenance['commit'] or 'unknown'}; "
        f"{first.provenance['machine']}.</p>"
    )
    return head + table(["cell", "policies", "replications", "rounds"], rows)
