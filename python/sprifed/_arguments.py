"""Arguments that are what they should be, or a refusal that says what was found and what is required."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from sprifed import _core

LARGEST_COUNT = 2**32 - 1
LARGEST_SEED = 2**64 - 1
LARGEST_SIZE = 2**63 - 1
HELP = "correct the argument; nothing was spent"


class SprifedWarning(UserWarning):
    """What a user must know before a model is used."""


class UnreliableModelWarning(SprifedWarning):
    """The model is only the mean, or its coefficients must not be interpreted."""


class Kind(NamedTuple):
    """What a refusal is: its exception and its stable name."""

    error: type[_core.SprifedError]
    code: str


ARGUMENT = Kind(_core.StudyError, "sprifed::python::argument")
QUANTITY = Kind(_core.BudgetError, "sprifed::privacy::illegal-quantity")
SCHEMA = Kind(_core.SchemaError, "sprifed::data::schema")
TABLE = Kind(_core.DataError, "sprifed::data::table")
UNUSABLE_LEDGER = Kind(_core.BudgetError, "sprifed::ledger::unusable")
RECEIPT = Kind(_core.ReceiptError, "sprifed::receipt::unreadable")


def refused(name: str, found: Any, required: str, kind: Kind = ARGUMENT) -> _core.SprifedError:
    """The refusal of what was given for ``name``."""
    words = repr(found)
    if len(words) > 80:
        words = f"{words[:80]}..."
    return _core.refusal(*kind, f"{name} is {words}; required: {required}", HELP)


def whole(name: str, found: Any, least: int = 0, most: int = LARGEST_COUNT) -> int:
    """``found`` as a whole number within limits; numpy's are too, bools are not."""
    try:
        if _is_bool(found):
            raise TypeError
        number = operator.index(found)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise refused(name, found, f"a whole number from {least} to {most}")
    return number


def whole_or_none(name: str, found: Any, least: int = 0, most: int = LARGEST_COUNT) -> int | None:
    """The same, where nothing may be given."""
    return None if found is None else whole(name, found, least, most)


def real(name: str, found: Any, kind: Kind = ARGUMENT) -> float:
    """``found`` as a number; text and bools are none."""
    try:
        if _is_bool(found) or isinstance(found, (str, bytes, bytearray)) or getattr(found, "ndim", 0):
            raise TypeError
        return float(found)
    except (TypeError, ValueError, OverflowError):
        raise refused(name, found, "a number", kind) from None


def real_or_none(name: str, found: Any, kind: Kind = ARGUMENT) -> float | None:
    """The same, where nothing may be given."""
    return None if found is None else real(name, found, kind)


def budget_number(name: str, found: Any) -> float:
    """A number of the privacy budget; the core says which are legal."""
    return real(name, found, QUANTITY)


def flag(name: str, found: Any) -> bool:
    """``found`` as True or False; a text that says no is neither."""
    if not _is_bool(found):
        raise refused(name, found, "True or False")
    return bool(found)


def text(name: str, found: Any) -> str:
    """``found`` as text; the core knows the choices."""
    if not isinstance(found, str):
        raise refused(name, found, "a text")
    return found


def pair(name: str, found: Any) -> tuple[Any, Any]:
    """``found`` as (lower, upper); a set has no order."""
    try:
        if isinstance(found, (str, bytes, dict, set, frozenset)):
            raise TypeError
        lower, upper = found
    except (TypeError, ValueError):
        raise refused(name, found, "a pair (lower, upper)", SCHEMA) from None
    return lower, upper


def bound(name: str, found: Any) -> float:
    """One bound."""
    return real(name, found, SCHEMA)


def bounds(name: str, found: Any) -> float | list[float]:
    """One bound for all columns, or a row of one for each."""
    import numpy as np

    try:
        array = np.asarray(found)
    except ValueError:
        array = None
    if array is None or array.ndim > 1 or array.dtype.kind not in "iuf":
        required = "a number, or one number for each column"
        raise refused(name, found, required, SCHEMA)
    return float(array) if array.ndim == 0 else array.astype(np.float64).tolist()


def _is_bool(found: Any) -> bool:
    """Whether it is True or False, Python's or numpy's, which is not loaded for that."""
    return isinstance(found, bool) or type(found).__name__ in ("bool", "bool_")
