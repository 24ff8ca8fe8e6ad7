//! A procedure that asks for the units of columns first and then looks at standardised columns only.

use sprifed_query::{
    Answer, ChoiceQuery, ChoosingProcedure, ChoosingStep, Procedure, Question, ReleasedColumns,
    Step, SumQuery,
};

use crate::fit::Fit;
use crate::setting::Setting;

/// A procedure whose first sum also has the questions about columns, and whose other questions are about standardised
/// columns. The procedure itself knows nothing of it: it finds features in units of one.
#[derive(Clone, Debug)]
pub(crate) struct Standardising<P> {
    procedure: P,
    units: Units,
}

/// What is known of the units of columns.
#[derive(Clone, Debug)]
struct Units {
    setting: Setting,
    released: Option<ReleasedColumns>,
}

impl<P> Standardising<P> {
    /// `procedure`, about to begin, with the columns of `setting`.
    pub(crate) const fn new(procedure: P, setting: Setting) -> Self {
        let units = Units {
            setting,
            released: None,
        };
        Self { procedure, units }
    }
}

impl Units {
    /// The same sum about standardised columns; the first sum asks for their units as well.
    fn sum(&self, mut query: SumQuery) -> SumQuery {
        match &self.released {
            None => query.questions.extend(self.setting.column_questions()),
            Some(columns) => {
                let about = |question| standardised(columns, question);
                query.questions = query.questions.into_iter().map(about).collect();
            }
        }
        query
    }

    /// The same choice about standardised columns.
    fn choice(&self, query: ChoiceQuery) -> ChoiceQuery {
        match &self.released {
            None => query,
            Some(columns) => ChoiceQuery {
                scores: standardised(columns, query.scores),
                ..query
            },
        }
    }

    /// Takes the blocks about columns off the first answer.
    fn take(&mut self, mut answer: Answer) -> Answer {
        if self.released.is_none()
            && let (Some(squares), Some(means)) = (answer.blocks.pop(), answer.blocks.pop())
        {
            self.released = Some(self.setting.column_units(&means, &squares));
        }
        answer
    }

    /// The fit in bounded units.
    fn bounded(&self, fit: Fit) -> Fit {
        match &self.released {
            None => fit,
            Some(columns) => fit.in_bounded_units(columns),
        }
    }

    fn after_sum<P: Procedure<Fit = Fit>>(self, step: Step<P>) -> Step<Standardising<P>> {
        match step {
            Step::Ask(query, procedure) => {
                let query = self.sum(query);
                Step::Ask(
                    query,
                    Standardising {
                        procedure,
                        units: self,
                    },
                )
            }
            Step::Done(fit) => Step::Done(self.bounded(fit)),
        }
    }

    fn after_choosing<P: ChoosingProcedure<Fit = Fit>>(
        self,
        step: ChoosingStep<P>,
    ) -> ChoosingStep<Standardising<P>> {
        match step {
            ChoosingStep::Ask(query, procedure) => {
                let query = self.sum(query);
                ChoosingStep::Ask(
                    query,
                    Standardising {
                        procedure,
                        units: self,
                    },
                )
            }
            ChoosingStep::Choose(query, procedure) => {
                let query = self.choice(query);
                ChoosingStep::Choose(
                    query,
                    Standardising {
                        procedure,
                        units: self,
                    },
                )
            }
            ChoosingStep::Done(fit) => ChoosingStep::Done(self.bounded(fit)),
        }
    }
}

fn standardised(columns: &ReleasedColumns, question: Question) -> Question {
    Question::Standardised {
        columns: columns.clone(),
        question: Box::new(question),
    }
}

impl<P: Procedure<Fit = Fit>> Procedure for Standardising<P> {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        self.units.after_sum(self.procedure.start())
    }

    fn resume(mut self, answer: Answer) -> Step<Self> {
        let answer = self.units.take(answer);
        self.units.after_sum(self.procedure.resume(answer))
    }
}

impl<P: ChoosingProcedure<Fit = Fit>> ChoosingProcedure for Standardising<P> {
    type Fit = Fit;

    fn start(self) -> ChoosingStep<Self> {
        self.units.after_choosing(self.procedure.start())
    }

    fn resume(mut self, answer: Answer) -> ChoosingStep<Self> {
        let answer = self.units.take(answer);
        self.units.after_choosing(self.procedure.resume(answer))
    }

    fn chosen(self, index: usize) -> ChoosingStep<Self> {
        self.units.after_choosing(self.procedure.chosen(index))
    }
}
