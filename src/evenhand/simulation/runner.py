"""Many runs: every policy and replication, shared out to the cores."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.checks import check_choice, check_whole
from evenhand.core.delay import Delay, check_delay
from evenhand.core.extras import load
from evenhand.core.provenance import provenance
from evenhand.environment import Environment
from evenhand.files.describe import describe_simulation
from evenhand.files.simulation import check_checkpoints
from evenhand.optimum.environment import best_up_to
from evenhand.policies import Policy, label_policies
from evenhand.problem import Problem
from evenhand.results import Anytime, Results
from evenhand.results.anytime import RUN_COLUMNS, USUAL, check_anytime
from evenhand.results.promises import RowFacts
from evenhand.simulation._engine import run_reference
from evenhand.simulation._progress import Listener, Progress
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import (
    MANY_CHECKPOINTS,
    Record,
    Run,
    RunControl,
    Streams,
    new_control,
    streams,
)
from evenhand.simulation.run import checkpoints as kept_rounds

Engine = Callable[[Run, Streams, RunControl], Record]
EngineName = Literal["compiled", "reference"]
LOOK_SECONDS = 0.1


def simulate(
    environment: Environment,
    policies: Mapping[str, Policy | str] | Sequence[Policy | str],
    *,
    horizon: int | None = None,
    replications: int = 1,
    seed: int = 0,
    delay: Delay = 0,
    anytime: Anytime = USUAL,
    checkpoints: tuple[int, int] | None = None,
    engine: EngineName = "compiled",
    workers: int | None = None,
    progress: bool | Listener = True,
) -> Results:
    """Play policies in an environment; all of them face the same awake sets and rewards.

    Parameters
    ----------
    environment
        Nature, and what the policies may know of it.
    policies
        Policies or registered names; a mapping gives them labels.
    horizon
        Rounds of one run; left out, a trace is replayed to its end. A trace counts only as far as
        it is played, for the optimum too.
    replications, seed
        Independent repetitions; results depend on (settings, seed, replication) alone.
    delay
        Rounds that feedback takes: a whole number, or :class:`~evenhand.Geometric`.
    anytime
        What the figures of every moment are measured against, see :class:`~evenhand.Anytime`.
    checkpoints
        At how many of the first and of the later rounds totals are kept; by default 100 and 400.
    engine
        ``"compiled"``, or ``"reference"`` for the readable specification; the same bits.
    workers
        Threads that share the runs of the compiled engine; all cores by default.
    progress
        Whether to show a progress bar on a terminal when it takes over a second, or a listener
        to tell how many rounds are done.

    Examples
    --------
    >>> from evenhand import Environment, Problem, make_policy, simulate
    >>> problem = Problem(["a", "b", "c"], plays=2, floors=[0.5, 0.6, 0.4])
    >>> environment = Environment(problem, means=[0.4, 0.5, 0.7], availability=[0.9, 0.8, 0.7])
    >>> results = simulate(environment, ["tscsf-b"], horizon=2_000, replications=4, seed=7)
    >>> {arm: round(x, 3) for arm, x in results.shortfall("tscsf-b").items()}
    {'a': 0.0, 'b': 0.0, 'c': 0.0}
    """
    labelled = label_policies(policies)
    horizon = environment.check_horizon(horizon)
    environment = environment.of_rounds(horizon)
    replications = check_whole("replications", replications, least=1)
    seed = check_whole("seed", seed, least=0)
    delay = check_delay(delay)
    check_choice("engine", engine, ("compiled", "reference"))
    cores = worker_count(workers)
    marks = check_anytime(anytime).settings_for(horizon)
    first, later = MANY_CHECKPOINTS if checkpoints is None else check_checkpoints(checkpoints)
    kept = kept_rounds(horizon, first, later)
    runs = [Run(environment, policy, horizon, kept, delay, anytime) for policy in labelled.values()]
    best, optima = best_up_to(environment, kept)
    play = load_engine(engine)
    warm_up(play, runs)
    start = time.perf_counter()
    jobs = [Job(run, seed, r, new_control()) for run in runs for r in range(replications)]
    total = sum(job.run.horizon for job in jobs)
    with Progress("simulating", total, wanted=progress is True) as bar:
        listener = bar if isinstance(progress, bool) else progress
        records = play_all(play, jobs, workers=cores, listener=listener)
    seconds = time.perf_counter() - start
    settings = describe_simulation(
        environment, labelled, horizon, replications, seed, delay, anytime
    )
    return Results.of_columns(
        _columns(records, len(labelled), environment.problem),
        arms=environment.problem.arms,
        floors=environment.problem.floors,
        means=environment.means,
        labels=tuple(labelled),
        policies=tuple(policy.name for policy in labelled.values()),
        rounds=kept,
        with_floors=best.with_floors,
        without_floors=best.without_floors,
        optimum_error=best.standard_error,
        seconds=seconds,
        provenance=provenance(settings),
        optima=optima,
        marks=marks,
        rows=RowFacts.of(environment.problem.rows),
    )


def _columns(records: Sequence[Record], policies: int, problem: Problem) -> dict[str, NDArray[Any]]:
    """Stack the records of all jobs: policies first, then replications."""
    shape = (policies, len(records) // policies)
    rows = zip(*(record.columns(problem) for record in records), strict=True)
    stacked = (np.array(column).reshape(*shape, len(column[0])) for column in rows)
    return dict(zip(RUN_COLUMNS, stacked, strict=True))


def load_engine(name: EngineName) -> Engine:
    """Return an engine by name; the compiled one needs the extra ``lab``."""
    if name == "reference":
        return run_reference
    load("numba")
    return run_compiled


def warm_up(play: Engine, runs: Sequence[Run]) -> None:
    """Compile what the runs need, by playing each one with the wish to stop already made."""
    for run in runs:
        control = new_control()
        control.stop[0] = 1
        play(run, streams(0, 0), control)


class Job(NamedTuple):
    """One run of one replication, and its control."""

    run: Run
    seed: int
    replication: int
    control: RunControl


def play_all(
    play: Engine, jobs: Sequence[Job], *, workers: int, listener: Listener
) -> list[Record]:
    """Play all jobs on as many threads; Ctrl-C stops them at once."""
    pool = ThreadPoolExecutor(max_workers=min(workers, len(jobs)))
    try:
        futures = [pool.submit(_play, play, job) for job in jobs]
        pending = set(futures)
        while pending:
            _, pending = wait(pending, timeout=LOOK_SECONDS, return_when=FIRST_EXCEPTION)
            listener.update(sum(int(job.control.done[0]) for job in jobs))
            _raise_first(futures)
    except BaseException:
        for job in jobs:
            job.control.stop[0] = 1
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return [future.result() for future in futures]


def _play(play: Engine, job: Job) -> Record:
    return play(job.run, streams(job.seed, job.replication), job.control)


def _raise_first(futures: Sequence[Future[Record]]) -> None:
    for future in futures:
        if future.done() and (error := future.exception()):
            raise error


def worker_count(workers: int | None) -> int:
    """Return a checked number of workers; all cores that this process may use by default."""
    return available_cores() if workers is None else check_whole("workers", workers, least=1)


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
