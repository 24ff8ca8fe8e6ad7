//! Site effects: each site has an intercept of its own.
//!
//! A record's site is said by indicators, which are the features after the last one of the study. They stand in place of
//! the constant in the first joint question and in updates, and not in the last question: with 20 to 60 records a site,
//! its entries there would be noise, and the whole last solve would be refused.

use serde::{Deserialize, Serialize};
use sprifed_privacy::PrivacyUnit;
use sprifed_query::{
    Answer, Constant, FeatureList, Limit, LinearModel, PlanError, Question, Scales,
};

use crate::joint::joint_norm;
use crate::least_squares::NoisyNormalEquations;
use crate::moments::second_moments;
use crate::portable::{larger, smaller};
use crate::setting::{Intercept, Setting};
use crate::square_matrix::SquareMatrix;

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// The most sites that can have intercepts of their own.
pub const MOST_SITES: usize = 40;

/// The fewest records of a site. With fewer, what the noise leaves of its mean is not worth its place.
pub const FEWEST_RECORDS: u32 = 15;

/// How many records each site has, which is public; none where there are no site effects.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct Sites {
    count: usize,
    records: [u32; MOST_SITES],
}

impl Sites {
    /// No site effects.
    pub const NONE: Self = Self {
        count: 0,
        records: [0; MOST_SITES],
    };

    /// Sites with so many records each, in the order of their indicators.
    ///
    /// # Errors
    /// When there are too many.
    pub fn new(records: &[u32]) -> Result<Self, PlanError> {
        let mut sites = Self::NONE;
        let places = sites.records.get_mut(..records.len());
        let places = places.ok_or_else(|| PlanError::Request {
            found: format!("{} sites with intercepts of their own", records.len()),
            required: format!("at most {MOST_SITES} are possible; combine the smallest ones"),
        })?;
        places.copy_from_slice(records);
        sites.count = records.len();
        Ok(sites)
    }

    /// How many records each site has.
    #[must_use]
    pub fn records(&self) -> &[u32] {
        self.records.get(..self.count).unwrap_or(&[])
    }

    /// How many sites there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl core::fmt::Debug for Sites {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter
            .debug_tuple("Sites")
            .field(&self.records())
            .finish()
    }
}

impl TryFrom<Vec<u32>> for Sites {
    type Error = PlanError;

    fn try_from(records: Vec<u32>) -> Result<Self, PlanError> {
        Self::new(&records)
    }
}

impl From<Sites> for Vec<u32> {
    fn from(sites: Sites) -> Self {
        sites.records().to_vec()
    }
}

impl Setting {
    /// How many numbers of a record are asked about: its features, and then an indicator of each site.
    #[must_use]
    pub fn n_columns(&self) -> u32 {
        let sites = u32::try_from(self.sites.count()).unwrap_or(u32::MAX);
        self.n_features.saturating_add(sites)
    }

    /// The indicators of sites, which stand in place of a constant.
    fn indicators(&self) -> Option<Constant> {
        let count = u32::try_from(self.sites.count()).ok();
        count
            .filter(|count| *count > 0)
            .map(|count| Constant::Sites {
                first: self.n_features,
                count,
            })
    }

    /// What the variables of an update start with.
    #[must_use]
    pub(crate) fn constant(&self) -> Constant {
        let constant = Constant::one_if(self.intercept == Intercept::Estimated);
        self.indicators().unwrap_or(constant)
    }

    /// Whether there is a first joint question: about features of every model, or sites.
    pub(crate) const fn asks_joint(&self) -> bool {
        self.always > 0 || !self.sites.is_empty()
    }

    /// The first question for second moments: of the sites or the constant, the features of every model and the
    /// residual at `model`. The sites count as one variable.
    pub(crate) fn first_joint_question(&self, model: LinearModel, scales: Scales) -> Question {
        Question::SecondMoment {
            support: FeatureList::of(&self.always_features()),
            constant: self.indicators().unwrap_or(Constant::One),
            model: model.into(),
            scales,
            norm: Limit::nearest(joint_norm(self.always as usize, 1.0)),
        }
    }

    /// What [`Self::first_joint_question`] is about.
    pub(crate) const fn first_joint_subject(&self) -> &'static str {
        match (self.always, self.sites.is_empty()) {
            (_, true) => "the features of every model",
            (0, false) => "the sites",
            (_, false) => "the sites and the features of every model",
        }
    }

    /// Entries of the answer to [`Self::first_joint_question`].
    pub(crate) fn first_joint_entries(&self) -> usize {
        let constants = self.indicators().unwrap_or(Constant::One).entries();
        let size = constants + self.always as usize + 1;
        size * (size + 1) / 2
    }

    /// Refuses sites whose means noise cannot hide or leaves nothing of.
    pub(crate) fn check_sites(&self) -> Result<(), PlanError> {
        if self.sites.is_empty() {
            return Ok(());
        }
        let refuse = |found: String, required: &str| {
            Err(PlanError::Request {
                found,
                required: required.to_owned(),
            })
        };
        if self.unit == PrivacyUnit::Client {
            return refuse(
                "site effects with clients as the unit of privacy".to_owned(),
                "records as the unit: the intercept of a site is about the mean of its client, which must stay hidden",
            );
        }
        if self.intercept == Intercept::Absent {
            return refuse(
                "site effects in a model without an intercept".to_owned(),
                "an intercept is required",
            );
        }
        let smallest = self.sites.records().iter().copied().min().unwrap_or(0);
        if smallest < FEWEST_RECORDS {
            return refuse(
                format!("a site with {smallest} records"),
                "each site with an intercept of its own needs at least 15; combine it with another site, or leave site \
                 effects out",
            );
        }
        let all: u64 = self.sites.records().iter().map(|n| u64::from(*n)).sum();
        if self.sites.count() < 2 || all > u64::from(self.n_records) {
            return refuse(
                format!(
                    "{} sites with {all} records of {}",
                    self.sites.count(),
                    self.n_records
                ),
                "there must be at least two sites, and all their records together are at most those of the study",
            );
        }
        Ok(())
    }
}

/// The intercepts of sites, in the course of a run.
#[derive(Clone, Debug)]
pub(crate) struct SiteEffects {
    sites: Sites,
    /// What each adds to the common intercept. Their mean over all records is zero.
    deviations: Vec<f64>,
    /// Which of them nothing is known of: their party was absent when they were first asked about.
    unknown: Vec<bool>,
}

impl SiteEffects {
    /// What is known before the first answer: nothing.
    pub(crate) fn new(setting: &Setting) -> Self {
        let count = setting.sites.count();
        Self {
            sites: setting.sites,
            deviations: vec![0.0; count],
            unknown: vec![true; count],
        }
    }

    /// The terms of a model: indicators of sites, which are the features from `first` on.
    pub(crate) fn terms(&self, first: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        (first..).zip(self.deviations.iter().copied())
    }

    /// What each site adds to the common intercept.
    pub(crate) fn into_deviations(self) -> Vec<f64> {
        self.deviations
    }

    /// Moves the intercepts by `changes`, and the common one with their mean, which it returns.
    ///
    /// # Why
    /// The common intercept then is the mean of those of the sites, each counted by its records: what is predicted for
    /// a record of none of the sites.
    pub(crate) fn move_by(&mut self, changes: &[f64]) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        let sites = self.deviations.iter_mut().zip(&self.unknown);
        for (((deviation, is_unknown), change), records) in
            sites.zip(changes).zip(self.sites.records())
        {
            if !is_unknown {
                *deviation += change;
                sum += f64::from(*records) * *deviation;
                count += f64::from(*records);
            }
        }
        let mean = sum / larger(count, 1.0);
        for (deviation, is_unknown) in self.deviations.iter_mut().zip(&self.unknown) {
            if !is_unknown {
                *deviation -= mean;
            }
        }
        mean
    }

    /// The equations of the sites and then the features of every model, as the answer to the first joint question has
    /// them. Takes note of which parties were absent from it.
    pub(crate) fn first_equations(
        &mut self,
        setting: &Setting,
        answer: &Answer,
    ) -> Option<NoisyNormalEquations> {
        for (site, is_unknown) in (0..).zip(&mut self.unknown) {
            *is_unknown = answer.absent.contains(&site);
        }
        let block = answer.blocks.first()?;
        let always = setting.always as usize;
        let size = self.sites.count() + always;
        let norm = joint_norm(always, 1.0);
        let moments = second_moments(block, size + 1, norm);
        let mut gram = SquareMatrix::from_fn(size, |row, column| moments[(row, column)]);
        self.restrict(&mut gram);
        let noise = block.noise_std_dev * norm * norm;
        Some(NoisyNormalEquations {
            gram,
            cross: (0..size).map(|row| moments[(row, size)]).collect(),
            gram_noise: noise,
            cross_noise: noise / core::f64::consts::SQRT_2,
        })
    }

    /// Puts what is known of indicators into their block, which comes first in `gram`: a record is of one site, so
    /// products of two are zero, and squares are as many as the site has records, or half of that at least.
    fn restrict(&self, gram: &mut SquareMatrix) {
        let records = self.sites.records();
        for (row, most) in records.iter().enumerate() {
            for column in 0..row {
                gram[(row, column)] = 0.0;
                gram[(column, row)] = 0.0;
            }
            let most = f64::from(*most);
            gram[(row, row)] = smaller(larger(gram[(row, row)], most / 2.0), most);
        }
    }

    /// Solves equations in which the sites come first, without the sites that nothing is known of or that are among
    /// `absent`: they do not change.
    pub(crate) fn solve(
        &self,
        equations: &NoisyNormalEquations,
        absent: &[u32],
        expected: f64,
    ) -> Vec<f64> {
        let size = equations.cross.len();
        let is_there = |place: &usize| {
            let is_absent = u32::try_from(*place).is_ok_and(|site| absent.contains(&site));
            let is_unknown = self.unknown.get(*place);
            is_unknown.is_none_or(|is_unknown| !is_unknown && !is_absent)
        };
        let places: Vec<usize> = (0..size).filter(is_there).collect();
        let solution = equations.restricted(&places).solve_expecting(expected);
        let mut changes = vec![0.0; size];
        for (place, change) in places.iter().zip(solution.coefficients) {
            changes[*place] = change;
        }
        changes
    }
}
