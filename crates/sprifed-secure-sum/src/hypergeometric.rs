//! Exact tails of the hypergeometric distribution, as logarithms.

/// Logarithms of factorials up to a bound.
pub(crate) struct LogFactorials(Vec<f64>);

impl LogFactorials {
    pub(crate) fn up_to(largest: u32) -> Self {
        let mut sum = 0.0;
        let logarithms = (1..=largest).map(|number| {
            sum += f64::from(number).ln();
            sum
        });
        Self(core::iter::once(0.0).chain(logarithms).collect())
    }

    fn log_choose(&self, from: u32, chosen: u32) -> f64 {
        let log = |number: u32| {
            self.0
                .get(number as usize)
                .copied()
                .unwrap_or(f64::INFINITY)
        };
        if chosen > from {
            return f64::NEG_INFINITY;
        }
        log(from) - log(chosen) - log(from - chosen)
    }

    /// ln P(X ≥ `least`) for X the number of marked ones among `drawn` of `all`, `marked` of which
    /// are marked.
    pub(crate) fn log_upper_tail(&self, all: u32, marked: u32, drawn: u32, least: u32) -> f64 {
        if least == 0 || least + all <= marked.saturating_add(drawn) {
            return 0.0;
        }
        let most = marked.min(drawn);
        let total = self.log_choose(all, drawn);
        let terms = (least..=most).map(|count| {
            self.log_choose(marked, count) + self.log_choose(all - marked, drawn - count) - total
        });
        let terms: Vec<f64> = terms.collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return largest;
        }
        largest
            + terms
                .iter()
                .map(|term| (term - largest).exp())
                .sum::<f64>()
                .ln()
    }
}

#[cfg(test)]
mod tests;
