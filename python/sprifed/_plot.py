"""The report's figure: coefficients with their confidence intervals."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from sprifed import _core


def plot_report(model: Any, ax: Any = None) -> Any:
    """Draw the reported coefficients with their confidence intervals; return the axes.

    Coefficients are shown in units of half the distance of their column's bounds, so that they can be
    compared. The guarantee is the title. If the model is only the mean, or its coefficients must not be interpreted, the
    figure says so and has no points. Needs matplotlib.
    """
    check_is_fitted(model)
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot_report needs matplotlib: pip install sprifed[plot]") from error
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 1.5 + 0.35 * max(1, len(model.support_))))
    guarantee = model.guarantee_
    if guarantee.is_private:
        title = f"{_core.shown_guarantee(guarantee.epsilon, guarantee.delta)} per {guarantee.unit}"
    else:
        title = "NOT PRIVATE: repeatable noise"
    ax.set_title(f"{title} - {model.status_}")
    if model._model.alarm is not None:
        ax.set_axis_off()
        ax.text(0.5, 0.5, model._model.alarm, wrap=True, ha="center", va="center")
        return ax
    columns = {term["name"]: term for term in model.receipt_["features"]}
    names = [model._names()[column] for column in model.support_]
    reach = [(columns[name]["upper"] - columns[name]["lower"]) / 2 for name in names]
    places = range(len(names))[::-1]
    ax.axvline(0, color="0.7", linewidth=1)
    for place, half, estimate, (low, high) in zip(places, reach, model.estimates_, model.intervals_):
        ax.plot([low * half, high * half], [place, place], color="C0", linewidth=1.5)
        ax.plot([estimate * half], [place], "o", color="C0")
    ax.set_yticks(list(places), names)
    ax.set_xlabel("change of the response over half the column's range; bars: 95 % confidence intervals")
    return ax
