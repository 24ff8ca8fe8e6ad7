"""What an estimator and its copies have spent, and who may spend next.

Every fit with secret noise spends the whole budget once more, which searches, cross-validation and threads do
not say. So an estimator is marked before it is fitted, and the mark is taken back only if the core is certain
that nothing was spent.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sprifed import _core

# A signal handler may ask for it while it is held.
_LOCK = threading.RLock()


class Account:
    """The receipts of an estimator and all its copies in this process."""

    def __init__(self, receipts: tuple[str, ...] = ()):
        self._receipts = list(receipts)

    def receipts(self) -> list[str]:
        """What was spent so far, as JSON."""
        with _LOCK:
            return list(self._receipts)

    def keep(self, receipt: str) -> None:
        """One more fit has spent."""
        with _LOCK:
            self._receipts.append(receipt)

    # Copies in one process spend from one account; another process takes along what is known.
    def __copy__(self) -> Account:
        return self

    def __deepcopy__(self, memo: Any) -> Account:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Account, (tuple(self.receipts()),)


def account_of(estimator: Any) -> Account:
    """The account of ``estimator``, opened at its first use."""
    with _LOCK:
        if "_account" not in vars(estimator):
            estimator._account = Account()
        return estimator._account


@contextmanager
def claimed(estimator: Any, repeatedly: bool, refuse: Any) -> Iterator[_core.SpentFit]:
    """Mark ``estimator`` as fitted and yield where the core says what was spent.

    Of several threads one gets the mark; the others, and copies, call ``refuse(is_copy)``, which raises.
    """
    with _LOCK:
        before = vars(estimator).get("_was_fitted", False)
        is_copy = vars(estimator).get("_is_copy", False)
        is_free = repeatedly or not (before or is_copy)
        if is_free:
            estimator._was_fitted = True
    if not is_free:
        refuse(is_copy)
    spent_fit = _core.SpentFit()
    try:
        yield spent_fit
    finally:
        if spent_fit.is_empty:
            with _LOCK:
                estimator._was_fitted = before
        elif spent_fit.receipt is not None:
            account_of(estimator).keep(spent_fit.receipt)
