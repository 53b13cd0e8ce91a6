"""The clerk carries out commands, many in one transaction, and answers each of them.

Bandits are locked first: what is decided is decided on the counters that are then written, whatever
other servers do. A command that is refused changes nothing and does not hold up the others. If the
transaction fails nothing has happened, and the bandits are read again from the store.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, TypeAlias

from evenhand.errors import InfeasibleFloors, InputError
from evenhand.service import _changes, _decisions, _feedback, _samples
from evenhand.service import _commands as commands
from evenhand.service._bandit import Bandit
from evenhand.service._commands import Command, Create, decisions_of
from evenhand.service._counters import unpacked
from evenhand.service._edition import Edition
from evenhand.service._machine import Machine
from evenhand.service._refusals import Refusal, not_found, of_floors, of_input
from evenhand.service._why import Recent
from evenhand.service._work import Answer, Work
from evenhand.service.stores import Store
from evenhand.service.stores.protocol import Locked, Transaction

Late: TypeAlias = Callable[[Sequence[str]], Sequence[Command]]
DEEDS: Mapping[type, Callable[[Work, Any], Answer]] = {
    commands.Alter: _changes.alter,
    commands.AlterArm: _changes.alter_arm,
    commands.Ask: _decisions.ask,
    commands.Cancel: _decisions.cancel,
    commands.Delete: _changes.delete,
    commands.Join: _changes.join,
    commands.Note: _decisions.note,
    commands.Retire: _changes.retire,
    commands.TakeSample: _samples.take,
    commands.ExpireOverdue: _feedback.expire_overdue,
    commands.Tell: _feedback.tell,
}


class Pending(NamedTuple):
    """Commands that have been carried out, but for the commit."""

    answers: list[Answer | Refusal]
    commit: Callable[[], None]


class Clerk:
    """Carries out commands on the bandits of a store, one batch at a time.

    Examples
    --------
    >>> from evenhand.service._bodies import Arm, BanditBody
    >>> from evenhand.service._edition import first_edition
    >>> from evenhand.service.stores import open_store
    >>> clerk = Clerk(open_store("memory:"))
    >>> body = BanditBody([Arm("news", floor=0.5), Arm("arts")], plays=1)
    >>> made, asked = clerk.carry_out(
    ...     [Create("shelf", body, first_edition(body)), commands.Ask("shelf", "d-1", None, False)]
    ... )
    >>> made.status, asked.status, asked.body.id, asked.body.round
    (201, 201, 'd-1', 1)
    """

    def __init__(
        self, store: Store, machine: Machine | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self.store = store
        self._machine, self._now = machine, now
        self._bandits: dict[str, Bandit] = {}
        self.recent = Recent()

    def carry_out(
        self, batch: Sequence[Command], late: Late | None = None
    ) -> list[Answer | Refusal]:
        """Carry out commands in one transaction; it is done when this returns."""
        pending = self.begin(batch, late=late)
        pending.commit()
        return pending.answers

    def begin(
        self, batch: Sequence[Command], *, wait: bool = True, late: Late | None = None
    ) -> Pending:
        """Carry out commands up to the commit, which is left to the caller.

        Without ``wait``, a store that somebody else is writing to is Unavailable at once. Whoever
        waits for another server may join in ``late``: is asked, when the bandits are locked, for
        more commands about them.
        """
        names = sorted({command.bandit for command in batch})
        # Bandits come back only if the commit succeeds: otherwise they are read again.
        known = {name: self._bandits.pop(name) for name in names if name in self._bandits}
        with ExitStack() as stack:
            transaction = stack.enter_context(self.store.transaction(wait=wait))
            versions = {name: known[name].version if name in known else 0 for name in names}
            locked = transaction.lock(versions)
            if late is not None:
                batch = [*batch, *late(names)]
            works = self._begin(transaction, locked, batch, known)
            answers = [self._answer(transaction, works, command) for command in batch]
            for work in works.values():
                work.save()
            bandits = {name: work.bandit for name, work in works.items()}
            end = stack.pop_all()

        def commit() -> None:
            end.close()
            self._bandits.update(bandits)
            for work in works.values():
                self.recent.add(work.bandit.key, work.sources)

        return Pending(answers, commit)

    def _begin(
        self,
        transaction: Transaction,
        locked: Mapping[str, Locked],
        batch: Sequence[Command],
        known: Mapping[str, Bandit],
    ) -> dict[str, Work]:
        """Get locked bandits ready, and look up the decisions that commands speak of."""
        meant: dict[str, list[Command]] = {}
        for command in batch:
            meant.setdefault(command.bandit, []).append(command)
        now = self._now()
        works = {}
        for name, found in locked.items():
            ids = [id_ for command in meant[name] for id_ in decisions_of(command)]
            bandit = self._present(transaction, known.get(name), found)
            works[name] = Work(transaction, bandit, ids, now)
            works[name].expect(_decisions.asked_ahead(works[name], meant[name]))
        return works

    def _present(self, transaction: Transaction, bandit: Bandit | None, found: Locked) -> Bandit:
        """Return a bandit as the store has it now, in machine code as soon as there is some."""
        head, counters = found
        if bandit is None or (bandit.key, bandit.edition.number) != (head.key, head.edition):
            edition = Edition.from_bytes(transaction.edition(head.key, head.edition))
        else:
            edition = bandit.edition
        compiled = self._machine is not None and self._machine.ready(edition)
        if bandit is None or bandit.edition is not edition or bandit.compiled != compiled:
            bandit = Bandit(head.key, edition, compiled)
        if bandit.version != head.version:
            bandit.load(unpacked(counters or transaction.counters(head.key)), head.version)
        return bandit

    def _answer(
        self, transaction: Transaction, works: dict[str, Work], command: Command
    ) -> Answer | Refusal:
        """Carry out a command, or say why not."""
        try:
            if isinstance(command, Create):
                return _changes.create(transaction, works, command, self._now())
            if command.bandit not in works:
                return not_found("bandit", command.bandit)
            answer = DEEDS[type(command)](works[command.bandit], command)
            if isinstance(command, commands.Delete):
                del works[command.bandit]
            return answer
        except Refusal as refusal:
            return refusal
        except InfeasibleFloors as error:
            return of_floors(error)
        except InputError as error:
            return of_input(error)
