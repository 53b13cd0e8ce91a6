"""``evenhand lab movielens``: fetch a release, run the movie experiment, write a sample."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from evenhand.cli._screen import errors, output_folder, print_json, screen
from evenhand.core.checks import check_known, real
from evenhand.core.plain import to_json
from evenhand.core.sealed import PROVENANCE_FILE
from evenhand.core.storage import staged, write_text
from evenhand.errors import InfeasibleFloors, InputError
from evenhand.lab.paper import movielens as ml
from evenhand.lab.paper.movielens.drawing import draw_movies
from evenhand.policies.families import Eta

app = typer.Typer(no_args_is_help=True, help="The movie experiment on MovieLens, or your ratings.")


@app.command()
def fetch(
    release: Annotated[str, typer.Argument(help=f"One of {', '.join(ml.RELEASES)}.")],
) -> None:
    """Download RELEASE into the cache; a stopped download is resumed. The md5 is checked."""
    check_known("release", [release], ml.RELEASES)
    screen.print(ml.TERMS, markup=False)
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    with Progress(
        *columns, TimeRemainingColumn(), console=errors, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task(release, total=None)
        path = ml.fetch(
            release, tell=lambda done, total: bar.update(task, completed=done, total=total)
        )
    screen.print(f"{release} is at {path}", markup=False, soft_wrap=True)


@app.command()
def generate(
    folder: Annotated[Path, typer.Argument(help="Where to write ratings.csv and movies.csv.")],
    ratings: Annotated[int, typer.Option(help="How many ratings.")] = 200_000,
    seed: Annotated[int, typer.Option(help="Seed of the generator.")] = 1,
) -> None:
    """Write a generated sample in the ml-20m file format; it is not MovieLens."""
    ml.write_synthetic(folder, ratings=ratings, seed=seed)
    screen.print(f"{ratings:,} generated ratings in {folder}", markup=False, soft_wrap=True)


@app.command()
def run(
    path: Annotated[Path | None, typer.Option(help="Folder or zip of a release.")] = None,
    release: Annotated[str | None, typer.Option(help="A release that was fetched.")] = None,
    ratings: Annotated[
        Path | None, typer.Option(help="Your own CSV with the columns user, item, rating.")
    ] = None,
    movies: Annotated[
        str | None, typer.Option(help="Ids or titles, separated by commas or semicolons.")
    ] = None,
    plays: Annotated[int, typer.Option(help="Movies recommended to a user at most.")] = 2,
    floor: Annotated[float, typer.Option(help="Promised share of users, for each movie.")] = 0.3,
    eta: Annotated[str, typer.Option(help="A number, inf or paper.")] = "paper",
    order: Annotated[str, typer.Option(help="Users by id (dataset) or shuffled.")] = "dataset",
    scale: Annotated[
        str | None,
        typer.Option(help="Ratings as r/5 (five, for MovieLens) or minmax (for --ratings)."),
    ] = None,
    replications: Annotated[int, typer.Option(help="Independent repetitions.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for tables and figures.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Recommend movies to the users who rated any of them, and keep every movie's floor."""
    with output_folder(out):
        data = _data(path, release, ratings, movies)
        used = scale or ("five" if ratings is None else "minmax")
        choices = ml.Choices(plays, floor, _eta(eta), order, used, replications, seed)
        outcome = ml.run_movies(data, choices)
        if json:
            print_json(outcome.as_json())
        else:
            show(outcome)
        if out is not None:
            with staged(out, PROVENANCE_FILE) as staged_folder:
                outcome.results.save(staged_folder)
                write_text(staged_folder / "movies.json", to_json(outcome.as_json()))
                draw_movies(staged_folder / "figures", outcome.results, data.note)


def _data(
    path: Path | None, release: str | None, ratings: Path | None, movies: str | None
) -> ml.Data:
    if sum(given is not None for given in (path, release, ratings)) != 1:
        raise InputError("exactly one of --path, --release and --ratings must be given")
    wanted = _split(movies)
    if ratings is not None:
        return ml.load_items(ratings, wanted)
    return ml.load_release(path if path is not None else ml.cached(str(release)), wanted)


def _split(movies: str | None) -> list[str]:
    """Split a list at semicolons if there are any (titles have commas), else at commas."""
    mark = ";" if movies and ";" in movies else ","
    return [part.strip() for part in (movies or "").split(mark) if part.strip()]


def _eta(text: str) -> Eta:
    try:
        return "paper" if text == "paper" else float(text)
    except ValueError:
        raise InputError(f"eta must be a number above 0, inf or 'paper', got {text!r}") from None


def show(outcome: ml.MovieOutcome) -> None:
    """Print movies, optimum and policies."""
    data, results = outcome.data, outcome.results
    if data.note:
        screen.print(Text(data.note, style="bold red"))
    users = data.table.users.size
    means = [movie["mean_reward"] for movie in outcome.as_json()["movies"]]
    rewards = f"rewards of {min(means):.3f} to {max(means):.3f} on average"
    screen.print(f"{data.release}: {users:,} users, {rewards}", markup=False)
    if data.table.duplicates:
        screen.print(f"{data.table.duplicates:,} ratings were superseded by later ones")
    document = outcome.as_json()
    shelf = Table("movie", "ratings", "mean", "availability", box=None, pad_edge=False)
    for movie in document["movies"]:
        numbers = f"{movie['ratings']:,}", f"{movie['mean']:.3f}", f"{movie['availability']:.3f}"
        shelf.add_row(Text(movie["title"]), *numbers)
    screen.print(shelf)
    for words, best in (("awake sets that occur", outcome.joint), ("genre shares", outcome.paper)):
        if isinstance(best, InfeasibleFloors):
            screen.print(f"optimum, {words}: {best}", markup=False, soft_wrap=True)
        elif best is not None:
            screen.print(f"optimum, {words}: {best.with_floors:.5f} with floors")
    table = Table(box=None, pad_edge=False)
    for column in ("policy", "regret", "worst shortfall"):
        table.add_column(column, justify="left" if column == "policy" else "right")
    for row in document["policies"]:
        regret = real(row["regret"])
        worst = f"{max(row['shortfall'].values()):.5f}"
        table.add_row(Text(row["label"]), "" if regret is None else f"{regret:.5f}", worst)
    screen.print(table)
    screen.print(f"{results.rounds_per_second:,.0f} rounds per second")
