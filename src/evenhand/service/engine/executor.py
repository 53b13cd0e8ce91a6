"""The command executor: many commands in one transaction, each with a result of its own.

It locks bandits first, so decisions are made from the counters that are then written, whatever
other servers do. A refused command changes nothing and does not affect the others. If the
transaction fails, nothing has happened, and the bandits are read again from the store.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple, TypeAlias

from evenhand.errors import InfeasibleFloors, InputError
from evenhand.service.engine import changes, commands, decisions, feedback, history
from evenhand.service.engine.bandit import Bandit
from evenhand.service.engine.commands import Command, CreateBandit, decisions_of
from evenhand.service.engine.config_version import ConfigVersion
from evenhand.service.engine.counters import unpacked
from evenhand.service.engine.explanations import RecentBases
from evenhand.service.engine.unit_of_work import HANDLERS, CommandResult, UnitOfWork
from evenhand.service.problems import ProblemError, not_found, problem_of
from evenhand.service.stores.protocol import LockedBandit, Store, Transaction

# Modules with handlers of commands, registered by their import.
HANDLING = (changes, decisions, feedback, history)
Result: TypeAlias = CommandResult | ProblemError
MoreCommands: TypeAlias = Callable[[Sequence[str]], Sequence[Command]]


class Pending(NamedTuple):
    """The results of commands that are executed but not committed, and the commit."""

    results: list[Result]
    commit: Callable[[], None]


class CommandExecutor:
    """Executes commands on the bandits of a store, one batch at a time.

    Parameters
    ----------
    store
        Where bandits are kept.
    is_compiled
        Whether there is machine code for a configuration; never, if left out.
    now
        The clock, in seconds since 1970.

    Examples
    --------
    >>> from evenhand.service.engine.config_version import first_config
    >>> from evenhand.service.schemas import ArmBody, BanditBody
    >>> from evenhand.service.stores import open_store
    >>> executor = CommandExecutor(open_store("memory:"))
    >>> body = BanditBody([ArmBody("news", floor=0.5), ArmBody("arts")], plays=1)
    >>> created, decided = executor.execute(
    ...     [CreateBandit("shelf", body, first_config(body)),
    ...      commands.Decide("shelf", "d-1", None, False)]
    ... )
    >>> created.status, decided.status, decided.body.id, decided.body.round
    (201, 201, 'd-1', 1)
    """

    def __init__(
        self,
        store: Store,
        is_compiled: Callable[[ConfigVersion], bool] = lambda config: False,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self._is_compiled, self._now = is_compiled, now
        self._bandits: dict[str, Bandit] = {}
        self.recent = RecentBases()

    def execute(self, batch: Sequence[Command], more: MoreCommands | None = None) -> list[Result]:
        """Execute commands in one transaction, and commit it."""
        pending = self.begin(batch, more=more)
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
            locked = transaction.lock(versions)
            if more is not None:
                batch = [*batch, *more(names)]
            units = self._begin_units(transaction, locked, batch, cached)
            results = [self._result(transaction, units, command) for command in batch]
            for unit in units.values():
                unit.save()
            bandits = {name: unit.bandit for name, unit in units.items()}
            end = stack.pop_all()

        def commit() -> None:
            end.close()
            self._bandits.update(bandits)
            for unit in units.values():
                self.recent.add(unit.bandit.key, unit.bases)

        return Pending(results, commit)

    def _begin_units(
        self,
        transaction: Transaction,
        locked: Mapping[str, LockedBandit],
        batch: Sequence[Command],
        cached: Mapping[str, Bandit],
    ) -> dict[str, UnitOfWork]:
        """Begin a unit of work for each locked bandit, with the decisions that commands name."""
        by_bandit: dict[str, list[Command]] = {}
        for command in batch:
            by_bandit.setdefault(command.bandit, []).append(command)
        now = self._now()
        units = {}
        for name, found in locked.items():
            ids = [id_ for command in by_bandit[name] for id_ in decisions_of(command)]
            bandit = self._current(transaction, cached.get(name), found)
            unit = units[name] = UnitOfWork(transaction, bandit, ids, now)
            unit.decide_ahead(decisions.certain_decisions(unit, by_bandit[name]))
        return units

    def _current(
        self, transaction: Transaction, bandit: Bandit | None, found: LockedBandit
    ) -> Bandit:
        """Return a bandit as the store has it now, compiled if there is machine code."""
        head, counters = found
        if bandit is None or (bandit.key, bandit.config.number) != (head.key, head.config_version):
            config = ConfigVersion.from_bytes(transaction.config(head.key, head.config_version))
        else:
            config = bandit.config
        compiled = self._is_compiled(config)
        if bandit is None or bandit.config is not config or bandit.compiled != compiled:
            bandit = Bandit(head.key, config, compiled)
        if bandit.version != head.version:
            bandit.load(unpacked(counters or transaction.counters(head.key)), head.version)
        return bandit

    def _result(
        self, transaction: Transaction, units: dict[str, UnitOfWork], command: Command
    ) -> Result:
        """Execute a command; return its result, or the problem with it."""
        try:
            if isinstance(command, CreateBandit):
                return changes.create(transaction, units, command, self._now())
            if command.bandit not in units:
                return not_found("bandit", command.bandit)
            result = HANDLERS[type(command)](units[command.bandit], command)
            if isinstance(command, commands.DeleteBandit):
                del units[command.bandit]
            return result
        except ProblemError as problem:
            return problem
        except (InfeasibleFloors, InputError) as error:
            return problem_of(error)
