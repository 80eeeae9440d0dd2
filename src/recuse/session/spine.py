"""The spine: how every question is answered, of tables and of graphs.

    Question ─charge→ Paid ─answer→ read private rows ─ release ─ store ─ stamp → Answer

Everything that can be refused was refused when the question was made. Charging and answering are two halves,
so that one process may charge and another look. What is answered is in the ledger before it is shown, and the
same question gets it again for nothing. What fails after the charge has one form, whatever it is (`outward`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from recuse.ledger import Balance, Bill, Charged, Ledger, Stored
from recuse.noise import Noise
from recuse.privacy import Delta, Epsilon
from recuse.session.answer import Answer
from recuse.session.fingerprint import question_key
from recuse.session.formulas import Keys
from recuse.session.outward import FailureLog, after_charge
from recuse.session.parts import Parts
from recuse.session.place import LedgerLocation
from recuse.session.question import Arrangement, Question, Releases, Subjects, exactly
from recuse.session.stored import restored, stored_text
from recuse.solver.programs import Solver


class Paid:
    """A question that is paid for, or was before: only now private rows may be read.

    It is made before the charge, so that nothing is left to do after it that could fail outside of `answer`.
    """

    __slots__ = ("question", "receipt")

    receipt: Charged | Stored

    def __init__(self, question: Question) -> None:
        self.question = question


class Spine:
    """What sessions share: a ledger, opened when first needed, and the way from a question to its answer."""

    def __init__(
        self,
        place: LedgerLocation,
        grant: Epsilon | None,
        delta: Delta | None,
        parts: Parts,
        failures: FailureLog,
        analyst: str | None,
    ) -> None:
        self.place = place
        self.analyst = analyst
        self.failures = failures
        self.ledger_is_new = False
        self._grant, self._delta = grant, delta
        self._parts = parts
        self._ledger: Ledger | None = None

    @property
    def ledger(self) -> Ledger:
        """The ledger, opened (and a new one created with the budget granted) when first needed."""
        if self._ledger is None:
            self._ledger, self.ledger_is_new = self.place.open(self._grant, self._delta)
        return self._ledger

    @property
    def has_ledger(self) -> bool:
        """Whether the ledger has been needed yet; refusals need none."""
        return self._ledger is not None

    @property
    def budget(self) -> Balance:
        """What is granted, spent and left: of the analyst who asks, else of the whole."""
        return self.ledger.balance(self.analyst)

    def bill(self, question: Question) -> Bill:
        """Return what the ledger is asked to pay for: made of public things alone."""
        return Bill(
            question.text,
            question.loss,
            question_key(question),
            question.policy,
            self.analyst,
            self.place.name,
            question.delta,
        )

    def charge(self, question: Question) -> Paid:
        """Return the question, paid for; or refuse it if too little is left.

        Guarantee: ε is on disk as spent before this returns, and is never refunded (proofs.md, theorem
        R4); no private row has been read. The same question is paid for once.
        """
        bill = self.bill(question)
        paid, ledger = Paid(question), self.ledger
        paid.receipt = ledger.charge(bill)
        return paid

    def answer(self, paid: Paid) -> Answer:
        """Return the answer to a question that is paid for; whatever fails is an `UnansweredError`.

        Guarantee: private with the ε that was charged (proofs.md, theorems R3 to R7 and J1);
        only here private rows are read.
        """
        return after_charge(lambda: self._answer(paid), self.failures)

    def settle(self, question: Question) -> Answer:
        """Return the answer to a question, charged for: both halves, and no call of ours between them."""
        paid = self.charge(question)
        return after_charge(lambda: self._answer(paid), self.failures)

    def _answer(self, paid: Paid) -> Answer:
        question, receipt = paid.question, paid.receipt
        if isinstance(receipt, Stored):
            return arranged(question, receipt.answer, receipt)
        found = look(question, self._parts)
        self.ledger.store(receipt, found.text)
        return _stamped(found.question, found.question.arrange(found.keys, found.releases), receipt)

    def close(self) -> None:
        """Close the ledger. To close twice does no harm."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Looked:
    """What was released of a question that is paid for, and the question with what was released first."""

    question: Question
    keys: list[Keys]
    releases: Releases
    firsts: list[Releases]

    @property
    def text(self) -> str:
        """What the ledger stores of it."""
        return stored_text(self.keys, self.releases, self.firsts)


def look(question: Question, parts: Parts) -> Looked:
    """Return what is released of a question that is paid for: this is where private rows are read.

    Guarantee: private with the question's ε, and with its δ where keys are found (proofs.md, theorems R3 to
    R7, J1 and K1 to K3).
    """
    firsts = release_firsts(question, parts.solver, parts.noise)
    asked = question.given(firsts).found(parts.solver, parts.noise)
    subjects = asked.read_private_rows(parts.solver)
    return Looked(asked, list(asked.keys), release(asked, subjects, parts.noise), firsts)


def arranged(question: Question, text: str, receipt: Charged | Stored) -> Answer:
    """Return the answer of which a ledger has the text: made of what was released, and of nothing else."""
    keys, releases, firsts = restored(text)
    asked = question.given(firsts)
    return _stamped(asked, asked.arrange(keys, releases), receipt)


def _stamped(question: Question, table: Arrangement, receipt: Charged | Stored) -> Answer:
    return Answer(
        table.key_names,
        table.names,
        table.rows,
        question.loss.value,
        delta=Fraction(0) if question.delta is None else question.delta.value,
        remaining=receipt.remaining,
        policy=question.policy,
        data_version=receipt.data_version,
        stored=isinstance(receipt, Stored),
        stand_ins=table.stand_ins,
        notes=table.notes,
        cautions=table.cautions,
    )


def release_firsts(question: Question, solver: Solver, noise: Noise) -> list[Releases]:
    """Return what is released before anything else: each number may stand in the questions after it.

    Guarantee: private with the sum of their parts' ε, and so is all that is asked with them in its place
    (proofs.md, theorem J1): what is asked next depends on data only through what was released.
    """
    found: list[Releases] = []
    for first in question.firsts:
        asked = first.given(found)
        found.append(release(asked, asked.read_private_rows(solver), noise))
    return found


def release(question: Question, subjects: Subjects, noise: Noise) -> Releases:
    """Return the private numbers of all parts and groups, in the question's own units.

    Guarantee: private with the sum of the parts' ε (proofs.md, theorems R3 to R7 and E0); units are
    post-processing.
    """
    found = []
    for part, groups in zip(question.parts, subjects, strict=True):
        if part.mechanism is None:
            found.append([exactly(total, part) for total in groups.constants()])
            continue
        raw = groups.release(part.mechanism, noise)
        found.append(
            [one.rounded(signed=groups.signed, counted=part.counted).in_units(part.unit) for one in raw]
        )
    return found
