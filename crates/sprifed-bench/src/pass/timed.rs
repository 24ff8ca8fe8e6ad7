//! A backend that notes how long its answers take and which questions read whole records.

use std::time::{Duration, Instant};

use sprifed_query::{Answer, ChoiceBackend, ChoiceQuery, Question, SumBackend, SumQuery};

/// See the module.
pub(super) struct Timed<B> {
    backend: B,
    n_features: usize,
    reads: u32,
    took: Duration,
}

impl<B> Timed<B> {
    pub(super) const fn new(backend: B, n_features: usize) -> Self {
        Self {
            backend,
            n_features,
            reads: 0,
            took: Duration::ZERO,
        }
    }

    /// How many answers needed all features of every record.
    pub(super) const fn reads(&self) -> u32 {
        self.reads
    }

    /// How long all answers took.
    pub(super) const fn seconds(&self) -> f64 {
        self.took.as_secs_f64()
    }

    fn count<'q>(&mut self, mut questions: impl Iterator<Item = &'q Question>) {
        let n_features = self.n_features;
        let is_whole = |question: &Question| {
            matches!(question, Question::RowScale { .. }) || 2 * question.coordinates() > n_features
        };
        self.reads += u32::from(questions.any(is_whole));
    }
}

impl<B: SumBackend> SumBackend for Timed<B> {
    type Error = B::Error;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, B::Error> {
        self.count(query.questions.iter());
        let start = Instant::now();
        let answer = self.backend.answer(query);
        self.took += start.elapsed();
        answer
    }
}

impl<B: ChoiceBackend> ChoiceBackend for Timed<B> {
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, B::Error> {
        self.count(core::iter::once(&query.scores));
        let start = Instant::now();
        let chosen = self.backend.choose(query);
        self.took += start.elapsed();
        chosen
    }
}
