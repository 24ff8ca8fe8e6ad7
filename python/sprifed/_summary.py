"""A fit as a table of coefficients, in the shape that users of statsmodels know."""

from __future__ import annotations

import html
import math
import textwrap
from dataclasses import dataclass
from typing import Any

WIDTH = 88
HEADING = ("coef", "std err", "p-value", "[0.025", "0.975]", "privacy")


@dataclass(frozen=True)
class Summary:
    """What a fit says of itself. ``print`` it, or show it in a notebook."""

    alarm: str | None
    facts: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, model: Any) -> Summary:
        """The summary of a fitted estimator."""
        receipt = model.receipt_
        guarantee = model.guarantee_
        epsilon = "NOT PRIVATE" if guarantee.epsilon is None else f"epsilon = {guarantee.epsilon:g}"
        facts = (
            ("Response", receipt["response"]["name"]),
            ("Procedure", receipt["procedure"]),
            ("Records" if guarantee.unit == "record" else "Clients", str(receipt["train_size"])),
            ("Candidates", str(receipt["n_candidates"])),
            ("Kept", model._model.kept_words or f"{len(model.support_)} features"),
            ("Privacy", f"{epsilon}, delta = {guarantee.delta:g} for each {guarantee.unit} ({guarantee.neighbours})"),
            ("Status", model.status_),
        )
        names = model._names()
        rows = [
            (
                f"{names[column]} (always)" if always else names[column],
                _number(estimate),
                _number(error),
                _p_value(p_value),
                _number(low),
                _number(high),
                "" if math.isnan(share) else f"{100 * share:.0f} %",
            )
            for column, always, estimate, error, p_value, (low, high), share in zip(
                model.support_,
                model.is_always_,
                model.estimates_,
                model.std_errors_,
                model.p_values_,
                model.intervals_,
                model.privacy_shares_,
            )
        ]
        rows.append(_intercept(receipt))
        notes = (*model._model.notes, PRIVACY)
        return cls(model._model.alarm, facts, tuple(rows), notes)

    def as_text(self) -> str:
        """The summary as text of fixed width."""
        lines = [] if self.alarm is None else [*textwrap.wrap(self.alarm, WIDTH), ""]
        lines += ["Sparse private regression".center(WIDTH).rstrip(), "=" * WIDTH]
        for name, value in self.facts:
            indent = " " * 13
            lines += textwrap.wrap(f"{name + ':':<13}{value}", WIDTH, subsequent_indent=indent)
        lines.append("=" * WIDTH)
        first = max([len(row[0]) for row in self.rows] + [10])
        others = max(9, (WIDTH - first) // len(HEADING))
        lines.append(" " * first + "".join(f"{name:>{others}}" for name in HEADING))
        lines.append("-" * WIDTH)
        for name, *cells in self.rows:
            lines.append(f"{name:<{first}}" + "".join(f"{cell:>{others}}" for cell in cells))
        lines += ["=" * WIDTH, "Notes:"]
        for number, note in enumerate(self.notes, start=1):
            lines += textwrap.wrap(f"[{number}] {note}", WIDTH, subsequent_indent="    ")
        return "\n".join(lines)

    def as_html(self) -> str:
        """The summary as tables of a page."""
        escape = html.escape
        alarm = "" if self.alarm is None else f"<p><strong>{escape(self.alarm)}</strong></p>"
        facts = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in self.facts)
        heading = "".join(f"<th>{escape(name)}</th>" for name in ("", *HEADING))
        rows = "".join(
            "<tr>" + f"<th>{escape(row[0])}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:]) + "</tr>"
            for row in self.rows
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return f"{alarm}<table>{facts}</table><table><tr>{heading}</tr>{rows}</table><ol>{notes}</ol>"

    def __str__(self) -> str:
        return self.as_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.as_html()


PRIVACY = "privacy: the share of an estimate's variance that is due to the noise added for privacy."


def _intercept(receipt: dict[str, Any]) -> tuple[str, ...]:
    """The row of the intercept, as it is reported."""
    reported = receipt["inference"].get("intercept")
    if reported is None:
        return ("Intercept", _number(receipt["intercept"]), "", "", "", "", "")
    interval = reported["interval"] or {"low": math.nan, "high": math.nan}
    error = math.nan if reported["std_error"] is None else reported["std_error"]
    ends = (_number(interval["low"]), _number(interval["high"]))
    return ("Intercept", _number(reported["estimate"]), _number(error), "", *ends, "")


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}"


def _p_value(value: float) -> str:
    if math.isnan(value):
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
