//! Observes everything that a backend releases, as an attacker that knows both tables.

use sprifed_query::{
    Answer, AskedBlock, ChoiceBackend, ChoiceQuery, Contributor, Plan, PlannedStep, RecordSource,
    SumBackend, SumQuery,
};

use super::Seam;
use super::table::TableSource;

/// A backend whose releases are added up to one number: the logarithm of how much likelier they
/// are under the second table than under the first.
pub(super) struct Observer<'a, B, S, D> {
    pub(super) inner: B,
    pub(super) plan: &'a Plan,
    pub(super) sources: &'a [TableSource<'a>; 2],
    /// Which table the backend holds.
    pub(super) which: usize,
    pub(super) seam: &'a S,
    /// The seed by which values of a step are rounded.
    pub(super) rounding: D,
    /// What was added up so far.
    pub(super) statistic: f64,
}

impl<B, S: Seam, D: Fn(usize) -> u64> Observer<'_, B, S, D> {
    /// The sums of both tables without noise, block by block, in normalised units.
    fn exact(&self, step: usize, asked: &[AskedBlock<'_>]) -> [Vec<Vec<f64>>; 2] {
        let seed = (self.rounding)(step);
        [0, 1].map(|which: usize| exact(asked, seed, &self.sources[which]))
    }
}

#[expect(clippy::cast_precision_loss, reason = "sums are far below 2^53")]
fn exact(asked: &[AskedBlock<'_>], dither_seed: u64, source: &TableSource<'_>) -> Vec<Vec<f64>> {
    let contributor = Contributor::new(asked.to_vec(), dither_seed);
    let size = |asked: &AskedBlock<'_>| asked.planned.block.coordinates as usize;
    let total: usize = asked.iter().map(size).sum();
    let (mut values, mut integers) = (vec![0f32; total], vec![0i32; total]);
    let mut sums = vec![0i64; total];
    for unit in 0..source.n_units() {
        contributor.contribute(source, unit, &mut values, &mut integers);
        for (sum, integer) in sums.iter_mut().zip(&integers) {
            *sum += i64::from(*integer);
        }
    }
    let mut rest = sums.as_slice();
    let blocks = asked.iter().map(|asked| {
        let (block, following) = rest.split_at(size(asked).min(rest.len()));
        rest = following;
        let steps = asked.planned.steps;
        block.iter().map(|sum| *sum as f64 / steps).collect()
    });
    blocks.collect()
}

impl<B: SumBackend, S: Seam, D: Fn(usize) -> u64> SumBackend for Observer<'_, B, S, D> {
    type Error = B::Error;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, B::Error> {
        let mut answer = self.inner.answer(query)?;
        let Some(PlannedStep::Sum(planned)) = self.plan.steps.get(query.step) else {
            return Ok(answer);
        };
        let asked = query.questions.iter().zip(&planned.blocks);
        let asked: Vec<AskedBlock<'_>> = asked
            .map(|(question, planned)| AskedBlock { question, planned })
            .collect();
        let exact = self.exact(query.step, &asked);
        self.seam.release(&mut answer, &exact[self.which]);
        let [first, second] = &exact;
        for (block, (first, second)) in answer.blocks.iter().zip(first.iter().zip(second)) {
            let variance = block.noise_std_dev * block.noise_std_dev;
            for (value, (first, second)) in block.values.iter().zip(first.iter().zip(second)) {
                let middle = f64::midpoint(*first, *second);
                self.statistic += (value - middle) * (second - first) / variance;
            }
        }
        Ok(answer)
    }
}

impl<B: ChoiceBackend, S: Seam, D: Fn(usize) -> u64> ChoiceBackend for Observer<'_, B, S, D> {
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, B::Error> {
        let index = self.inner.choose(query)?;
        if let Some(PlannedStep::Choice(choice)) = self.plan.steps.get(query.step) {
            let (numerator, denominator) = choice.purchase.noise_rate;
            let rate =
                f64::from(numerator) / f64::from(denominator) * f64::from(choice.score_steps());
            let planned = choice.score_block();
            let question = &query.scores;
            let planned = &planned;
            let exact = self.exact(query.step, &[AskedBlock { question, planned }]);
            let likelihood = |which: usize| log_probability(&exact[which], rate, index);
            self.statistic += likelihood(1) - likelihood(0);
        }
        Ok(index)
    }
}

/// ln of the probability of the index under Gumbel noise, up to its being discrete.
fn log_probability(scores: &[Vec<f64>], rate: f64, index: usize) -> f64 {
    let exponents: Vec<f64> = scores
        .iter()
        .flatten()
        .map(|score| rate * score.abs())
        .collect();
    let largest = exponents.iter().copied().fold(0.0, f64::max);
    let total: f64 = exponents
        .iter()
        .map(|exponent| (exponent - largest).exp())
        .sum();
    exponents
        .get(index)
        .map_or(0.0, |exponent| exponent - largest - total.ln())
}
