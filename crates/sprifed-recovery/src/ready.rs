//! A procedure that can begin, whichever it is.

use core::fmt;

use sprifed_query::{Answer, ChoosingProcedure, ChoosingStep, Procedure, Step};

use crate::column_scales::Standardising;
use crate::fit::Fit;
use crate::outcome::survival::following::Following;
use crate::setting::Setting;

/// A procedure that can begin, by what it needs of a backend.
#[derive(Clone, Debug)]
pub enum Ready {
    /// It asks for sums only.
    Sums(SummingProcedure),
    /// It asks for choices too.
    Choices(AnyChoosing),
}

impl Ready {
    /// A procedure that asks for sums only.
    pub fn sums<P>(procedure: P) -> Self
    where
        P: Procedure<Fit = Fit> + Clone + fmt::Debug + Send + Sync + 'static,
    {
        Self::Sums(SummingProcedure(Box::new(procedure)))
    }

    /// A procedure that asks for choices too.
    pub fn choices<P>(procedure: P) -> Self
    where
        P: ChoosingProcedure<Fit = Fit> + Clone + fmt::Debug + Send + Sync + 'static,
    {
        Self::Choices(AnyChoosing(Box::new(procedure)))
    }
}

impl Ready {
    /// The same procedure, told the martingale residuals of times, and Cox's model after it.
    pub(crate) fn following(self, setting: &Setting) -> Self {
        match self {
            Self::Sums(procedure) => Self::sums(Following::new(procedure, *setting)),
            Self::Choices(procedure) => Self::choices(Following::new(procedure, *setting)),
        }
    }

    /// The same procedure, which asks for the units of the columns of `setting` first.
    pub(crate) fn standardising(self, setting: &Setting) -> Self {
        match self {
            Self::Sums(procedure) => Self::sums(Standardising::new(procedure, *setting)),
            Self::Choices(procedure) => Self::choices(Standardising::new(procedure, *setting)),
        }
    }
}

/// Any procedure that asks for sums only.
#[derive(Debug)]
pub struct SummingProcedure(Box<dyn Summing>);

/// Any procedure that asks for choices too.
#[derive(Debug)]
pub struct AnyChoosing(Box<dyn Choosing>);

trait Summing: fmt::Debug + Send + Sync {
    fn start(self: Box<Self>) -> Step<SummingProcedure>;
    fn resume(self: Box<Self>, answer: Answer) -> Step<SummingProcedure>;
    fn copied(&self) -> Box<dyn Summing>;
}

impl<P> Summing for P
where
    P: Procedure<Fit = Fit> + Clone + fmt::Debug + Send + Sync + 'static,
{
    fn start(self: Box<Self>) -> Step<SummingProcedure> {
        Procedure::start(*self).map(|next| SummingProcedure(Box::new(next)))
    }

    fn resume(self: Box<Self>, answer: Answer) -> Step<SummingProcedure> {
        Procedure::resume(*self, answer).map(|next| SummingProcedure(Box::new(next)))
    }

    fn copied(&self) -> Box<dyn Summing> {
        Box::new(self.clone())
    }
}

impl Clone for SummingProcedure {
    fn clone(&self) -> Self {
        Self(self.0.copied())
    }
}

impl Procedure for SummingProcedure {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        self.0.start()
    }

    fn resume(self, answer: Answer) -> Step<Self> {
        self.0.resume(answer)
    }
}

trait Choosing: fmt::Debug + Send + Sync {
    fn start(self: Box<Self>) -> ChoosingStep<AnyChoosing>;
    fn resume(self: Box<Self>, answer: Answer) -> ChoosingStep<AnyChoosing>;
    fn chosen(self: Box<Self>, index: usize) -> ChoosingStep<AnyChoosing>;
    fn copied(&self) -> Box<dyn Choosing>;
}

impl<P> Choosing for P
where
    P: ChoosingProcedure<Fit = Fit> + Clone + fmt::Debug + Send + Sync + 'static,
{
    fn start(self: Box<Self>) -> ChoosingStep<AnyChoosing> {
        wrapped(ChoosingProcedure::start(*self))
    }

    fn resume(self: Box<Self>, answer: Answer) -> ChoosingStep<AnyChoosing> {
        wrapped(ChoosingProcedure::resume(*self, answer))
    }

    fn chosen(self: Box<Self>, index: usize) -> ChoosingStep<AnyChoosing> {
        wrapped(ChoosingProcedure::chosen(*self, index))
    }

    fn copied(&self) -> Box<dyn Choosing> {
        Box::new(self.clone())
    }
}

fn wrapped<P>(step: ChoosingStep<P>) -> ChoosingStep<AnyChoosing>
where
    P: ChoosingProcedure<Fit = Fit> + Clone + fmt::Debug + Send + Sync + 'static,
{
    match step {
        ChoosingStep::Ask(query, next) => ChoosingStep::Ask(query, AnyChoosing(Box::new(next))),
        ChoosingStep::Choose(query, next) => {
            ChoosingStep::Choose(query, AnyChoosing(Box::new(next)))
        }
        ChoosingStep::Done(fit) => ChoosingStep::Done(fit),
    }
}

impl Clone for AnyChoosing {
    fn clone(&self) -> Self {
        Self(self.0.copied())
    }
}

impl ChoosingProcedure for AnyChoosing {
    type Fit = Fit;

    fn start(self) -> ChoosingStep<Self> {
        self.0.start()
    }

    fn resume(self, answer: Answer) -> ChoosingStep<Self> {
        self.0.resume(answer)
    }

    fn chosen(self, index: usize) -> ChoosingStep<Self> {
        self.0.chosen(index)
    }
}
