"""The report's figure: coefficients beside what the noise alone does to them."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from sprifed import _core


def plot_report(model: Any, ax: Any = None) -> Any:
    """Draw the chosen coefficients with twice the standard deviation of the noise; return the axes.

    Coefficients are shown in units of half the distance of their column's bounds, so that they can be
    compared. The guarantee is the title. Needs matplotlib.
    """
    check_is_fitted(model)
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot_report needs matplotlib: pip install sprifed[plot]") from error
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 1.5 + 0.35 * max(1, len(model.support_))))
    terms = model.receipt_["features"]
    reach = [(term["upper"] - term["lower"]) / 2 for term in terms]
    heights = [term["coefficient"] * half for term, half in zip(terms, reach)]
    noise = [2 * (term["noise_std_dev"] or 0.0) * half for term, half in zip(terms, reach)]
    places = range(len(terms))[::-1]
    ax.axvline(0, color="0.7", linewidth=1)
    ax.errorbar(heights, list(places), xerr=noise, fmt="o", capsize=3)
    ax.set_yticks(list(places), [term["name"] for term in terms])
    ax.set_xlabel("change of the response over half the column's range; bars: noise alone, 2 sd")
    guarantee = model.guarantee_
    if guarantee.is_private:
        title = f"{_core.shown_guarantee(guarantee.epsilon, guarantee.delta)} per {guarantee.unit}"
    else:
        title = "NOT PRIVATE: repeatable noise"
    ax.set_title(f"{title} - {model.status_}")
    return ax
