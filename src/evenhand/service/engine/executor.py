"""The command executor: many commands in one transaction, each with a result of its own.

It locks bandits first, so decisions are made from the counters that are then written, whatever
other servers do. A refused command changes nothing and does not affect the others. If the
transaction fails, nothing has happened, and the bandits are read again from the store.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple, TypeAlias

from evenhand.errors import InfeasibleFloors, InputError
from evenhand.service.engine import changes, decisions, feedback, history
from evenhand.service.engine.bandit import Bandit, EngineState
from evenhand.service.engine.commands import Command, CreateBandit, DeleteBandit, decisions_of
from evenhand.service.engine.config_version import ConfigVersion
from evenhand.service.engine.cost import estimated_seconds
from evenhand.service.engine.counters import unpacked
from evenhand.service.engine.explanations import RecentBases
from evenhand.service.engine.unit_of_work import HANDLERS, CommandResult, UnitOfWork
from evenhand.service.problems import ProblemError, locked, not_found, problem_of, unreadable
from evenhand.service.stores.protocol import (
    BanditHead,
    LockedBandit,
    Store,
    StoreUnavailable,
    Transaction,
)

# Modules with handlers of commands, registered by their import.
HANDLING = (changes, decisions, feedback, history)
QUICK_SECONDS = 0.02
Result: TypeAlias = CommandResult | ProblemError
MoreCommands: TypeAlias = Callable[[Sequence[str]], Sequence[Command]]
log = logging.getLogger(__name__)


class Pending(NamedTuple):
    """The results of commands that are executed but not committed, and the commit.

    ``locked`` has the bandits that another server had locked; their commands were not executed.
    """

    results: list[Result]
    commit: Callable[[], None]
    locked: Collection[str]


class Unreadable(NamedTuple):
    """A bandit that cannot be read, and the problem with it."""

    head: BanditHead
    problem: ProblemError


class CommandExecutor:
    """Executes commands on the bandits of a store, one batch at a time.

    Parameters
    ----------
    store
        Where bandits are kept.
    engine_of
        Whether there is machine code for a configuration; never, if left out.
    now
        The clock, in seconds since 1970; the store's, if left out.

    Examples
    --------
    >>> from evenhand.service.engine.commands import Decide
    >>> from evenhand.service.engine.config_version import first_config
    >>> from evenhand.service.schemas import ArmBody, BanditBody
    >>> from evenhand.service.stores import open_store
    >>> executor = CommandExecutor(open_store("memory:"))
    >>> body = BanditBody([ArmBody("news", floor=0.5), ArmBody("arts")], plays=1)
    >>> created, decided = executor.execute(
    ...     [CreateBandit("shelf", body, first_config(body)),
    ...      Decide("shelf", "d-1", None, False)]
    ... )
    >>> created.status, decided.status, decided.body.id, decided.body.round
    (201, 201, 'd-1', 1)
    """

    def __init__(
        self,
        store: Store,
        engine_of: Callable[[ConfigVersion], EngineState] = lambda config: "interpreted",
        now: Callable[[], float] | None = None,
    ) -> None:
        self.store = store
        self._engine_of, self._now = engine_of, now or store.now
        self._bandits: dict[str, Bandit] = {}
        self._reported: set[BanditHead] = set()
        self.recent = RecentBases()

    def is_quick(self, batch: Sequence[Command]) -> bool:
        """Say whether commands can be executed without anybody noticing."""
        return estimated_seconds(batch, self._bandits) < QUICK_SECONDS

    def execute(self, batch: Sequence[Command]) -> list[Result]:
        """Execute commands in one transaction, and commit it."""
        pending = self.begin(batch)
        pending.commit()
        return pending.results

    def begin(
        self, batch: Sequence[Command], *, wait: bool = True, more: MoreCommands | None = None
    ) -> Pending:
        """Execute commands and leave the commit to the caller.

        Without ``wait``, a store that is locked by another writer raises StoreUnavailable at once.
        ``more`` is called with the names of the bandits once they are locked, and may return
        further commands about them: those that arrived while this server waited for the lock.
        """
        names = sorted({command.bandit for command in batch})
        # Bandits are put back only after the commit: otherwise they are read again.
        cached = {name: self._bandits.pop(name) for name in names if name in self._bandits}
        with ExitStack() as stack:
            transaction = stack.enter_context(self.store.transaction(wait=wait))
            versions = {name: cached[name].version if name in cached else 0 for name in names}
            try:
                found, busy = _lock(transaction, versions)
            except StoreUnavailable:
                # Nothing has touched them.
                self._bandits.update(cached)
                raise
            self._bandits.update({name: cached[name] for name in busy if name in cached})
            if more is not None:
                batch = [*batch, *more([name for name in names if name not in busy])]
            units, results = self._results(transaction, found, batch, cached, busy)
            for unit in units.values():
                unit.save()
            bandits = {name: unit.bandit for name, unit in units.items()}
            end = stack.pop_all()

        def commit() -> None:
            end.close()
            self._bandits.update(bandits)
            for unit in units.values():
                self.recent.add(unit.bandit.key, unit.bases)

        return Pending(results, commit, busy)

    def _results(
        self,
        transaction: Transaction,
        found: Mapping[str, LockedBandit],
        batch: Sequence[Command],
        cached: Mapping[str, Bandit],
        busy: Collection[str],
    ) -> tuple[dict[str, UnitOfWork], list[Result]]:
        """Execute commands on locked bandits; return their units of work, and the results."""
        units, broken = self._begin_units(transaction, found, batch, cached)
        return units, [
            locked(command.bandit)
            if command.bandit in busy
            else self._result(transaction, units, broken, command)
            for command in batch
        ]

    def _begin_units(
        self,
        transaction: Transaction,
        found: Mapping[str, LockedBandit],
        batch: Sequence[Command],
        cached: Mapping[str, Bandit],
    ) -> tuple[dict[str, UnitOfWork], dict[str, Unreadable]]:
        """Begin a unit of work for each locked bandit, with the decisions that commands name.

        Return them, and the bandits that cannot be read.
        """
        by_bandit: dict[str, list[Command]] = {}
        for command in batch:
            by_bandit.setdefault(command.bandit, []).append(command)
        now = self._now()
        units, broken = {}, {}
        for name, one in found.items():
            try:
                bandit = self._current(transaction, cached.get(name), one)
            except StoreUnavailable:
                raise
            except Exception as error:  # whatever a damaged row, or a policy, may lead to
                broken[name] = self._unreadable(name, one.head, error)
                continue
            ids = [id_ for command in by_bandit[name] for id_ in decisions_of(command)]
            unit = units[name] = UnitOfWork(transaction, bandit, ids, now)
            unit.decide_ahead(decisions.certain_decisions(unit, by_bandit[name]))
        return units, broken

    def _current(
        self, transaction: Transaction, bandit: Bandit | None, found: LockedBandit
    ) -> Bandit:
        """Return a bandit as the store has it now, compiled if there is machine code."""
        head, counters = found
        if bandit is None or (bandit.key, bandit.config.number) != (head.key, head.config_version):
            config = ConfigVersion.from_bytes(transaction.config(head.key, head.config_version))
        else:
            config = bandit.config
        engine = self._engine_of(config)
        if bandit is None or bandit.config is not config or bandit.engine != engine:
            bandit = Bandit(head.key, config, engine)
        if bandit.version != head.version:
            bandit.load(unpacked(counters or transaction.counters(head.key)), head.version)
        return bandit

    def _result(
        self,
        transaction: Transaction,
        units: dict[str, UnitOfWork],
        broken: dict[str, Unreadable],
        command: Command,
    ) -> Result:
        """Execute a command; return its result, or the problem with it."""
        name = command.bandit
        try:
            if name in broken:
                return _on_unreadable(transaction, broken, command)
            if isinstance(command, CreateBandit):
                return changes.create(transaction, units, command, self._now())
            if name not in units:
                return not_found("bandit", name)
            result = HANDLERS[type(command)](units[name], command)
            if isinstance(command, DeleteBandit):
                del units[name]
            return result
        except ProblemError as problem:
            return problem
        except (InfeasibleFloors, InputError) as error:
            return problem_of(error)

    def _unreadable(self, name: str, head: BanditHead, error: Exception) -> Unreadable:
        """Log that a bandit cannot be read, once per version."""
        problem = unreadable(name, error)
        if head not in self._reported:
            self._reported.add(head)
            log.error("%s", problem)
        return Unreadable(head, problem)


def _on_unreadable(
    transaction: Transaction, broken: dict[str, Unreadable], command: Command
) -> CommandResult:
    """Delete a bandit that cannot be read; refuse everything else."""
    head, problem = broken[command.bandit]
    if not isinstance(command, DeleteBandit):
        raise problem
    transaction.delete(head.key)
    del broken[command.bandit]
    return CommandResult(204)


def _lock(
    transaction: Transaction, versions: Mapping[str, int]
) -> tuple[dict[str, LockedBandit], set[str]]:
    """Lock bandits; return them, and those that other servers have locked.

    Of several, those that are free do not wait for the others.
    """
    if len(versions) == 1:
        return transaction.lock(versions), set()
    found = transaction.lock(versions, wait=False)
    missing = [name for name in versions if name not in found]
    busy = {name for name in missing if transaction.find(name) is not None}
    if busy and not found:
        first = min(busy)
        found = transaction.lock({first: versions[first]})
        busy.discard(first)
    return found, busy
