//! Every sum of a whole run of the paper's algorithms, planned before a record is touched.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Signed;
use serde::Serialize;

use crate::grid::BoxRequest;
use crate::modulus::{IllegalModulus, LOG_WRAP_PROBABILITY, ModulusPlan, SumSize};
use crate::neighbours::Relation;
use crate::participation::Participation;
use crate::rational::IllegalFraction;
use crate::record_part::RecordPart;
use crate::shown::counted;
use crate::sum_plan::{NoiseOrigin, SumCost, SumPlan, Uncertifiable};
use crate::totals::Algorithm;

#[cfg(test)]
mod tests;

/// A run that cannot be planned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unplannable {
    /// The sparsity does not suit the number of features.
    #[error(
        "the sparsity is {sparsity}, but it must be at least 1 and below the {}",
        counted(*features, "feature", "features")
    )]
    Sparsity {
        /// How many features are to be chosen.
        sparsity: u32,
        /// How many there are.
        features: u32,
    },
    /// A share of the budget that is not positive.
    #[error("{quantity} is {found}, but it must be above zero")]
    Budget {
        /// Which share.
        quantity: &'static str,
        /// Its value.
        found: String,
    },
    /// The grid does not exist.
    #[error(transparent)]
    Grid(#[from] IllegalFraction),
    /// The modulus does not exist.
    #[error(transparent)]
    Modulus(#[from] IllegalModulus),
    /// The guarantee does not exist.
    #[error(transparent)]
    Uncertifiable(#[from] Uncertifiable),
}

/// What decides the plan of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRequest {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// p: how many features.
    pub features: u32,
    /// s: how many are to be chosen.
    pub sparsity: u32,
    /// μ_p, exactly: the cost of one p-dimensional release.
    pub per_vector: BigRational,
    /// μ_s, exactly: the cost of s low-noise entries.
    pub per_support: BigRational,
    /// Who takes part.
    pub participation: Participation,
    /// The neighbouring relation that the noise is made for.
    pub relation: Relation,
    /// How many records one client may contribute, each clamped on its own.
    pub records_per_client: u32,
}

/// The sums of a run and the modulus they share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunPlan {
    /// The sums, in order.
    pub sums: Vec<SumPlan>,
    /// What each costs.
    pub costs: Vec<SumCost>,
    /// What they cost together.
    pub total: SumCost,
    /// How many integers are released in all.
    pub coordinates: u64,
    /// The modulus of every sum.
    pub modulus: ModulusPlan,
}

impl RunRequest {
    /// The plan of the run.
    ///
    /// # Guarantee
    /// A run that releases these sums, with this noise and nothing else, costs `total`.
    ///
    /// # Why
    /// Each coordinate's noise is its bound times √p/μ_p or √s/μ_s (twice that for replace-one),
    /// so the grid does not depend on the bounds.
    ///
    /// # Errors
    /// When the request is not legal or has no certified guarantee.
    pub fn plan(&self) -> Result<RunPlan, Unplannable> {
        self.check()?;
        let origin = NoiseOrigin::Shares(self.participation);
        let sums = match self.algorithm {
            Algorithm::Omp => self.omp_sums(origin)?,
            Algorithm::Grad => self.gradient_sums(origin)?,
        };
        let costs = sums
            .iter()
            .map(|sum| sum.cost(origin, self.relation))
            .collect::<Result<Vec<_>, _>>()?;
        let (first, rest) = costs
            .split_first()
            .unwrap_or_else(|| unreachable!("s is at least 1"));
        let total = rest
            .iter()
            .try_fold(*first, |total, cost| total.compose(*cost))?;
        let coordinates = sums.iter().map(SumPlan::coordinates).sum();
        let modulus = self.modulus(&sums, coordinates)?;
        Ok(RunPlan {
            sums,
            costs,
            total,
            coordinates,
            modulus,
        })
    }

    fn check(&self) -> Result<(), Unplannable> {
        if self.sparsity == 0 || self.sparsity >= self.features {
            let (sparsity, features) = (self.sparsity, self.features);
            return Err(Unplannable::Sparsity { sparsity, features });
        }
        for (quantity, share) in [("mu_p", &self.per_vector), ("mu_s", &self.per_support)] {
            if !share.is_positive() {
                return Err(Unplannable::Budget {
                    quantity,
                    found: share.to_string(),
                });
            }
        }
        Ok(())
    }

    /// `[gamma0]`, then `[beta | gammaS | betaS]` for each feature but the last, then
    /// `[gammaS | betaS]`.
    fn omp_sums(&self, origin: NoiseOrigin) -> Result<Vec<SumPlan>, Unplannable> {
        let mut sums = vec![self.sum([self.vector("gamma0", self.features)], origin)?];
        for chosen in 1..self.sparsity {
            let [response, row] = self.support_row(chosen);
            let column = self.vector("beta", self.features - chosen);
            sums.push(self.sum([column, response, row], origin)?);
        }
        sums.push(self.sum(self.support_row(self.sparsity), origin)?);
        Ok(sums)
    }

    /// `[grad]` and `[gammaS | betaS]` for each feature.
    fn gradient_sums(&self, origin: NoiseOrigin) -> Result<Vec<SumPlan>, Unplannable> {
        let mut sums = Vec::new();
        for chosen in 1..=self.sparsity {
            let gradient = self.vector("grad", self.features - (chosen - 1));
            sums.push(self.sum([gradient], origin)?);
            sums.push(self.sum(self.support_row(chosen), origin)?);
        }
        Ok(sums)
    }

    fn sum<const N: usize>(
        &self,
        requests: [BoxRequest; N],
        origin: NoiseOrigin,
    ) -> Result<SumPlan, Unplannable> {
        let blocks = requests.into_iter().map(|request| request.plan(origin));
        Ok(SumPlan {
            blocks: blocks.collect::<Result<_, _>>()?,
            part: RecordPart::All,
        })
    }

    fn vector(&self, name: &str, coordinates: u32) -> BoxRequest {
        let relative_variance = self.relative_variance(self.features, &self.per_vector);
        BoxRequest {
            name: name.to_owned(),
            coordinates,
            squares: 0,
            relative_variance,
        }
    }

    fn support_row(&self, chosen: u32) -> [BoxRequest; 2] {
        let relative_variance = self.relative_variance(self.sparsity, &self.per_support);
        [("gammaS", 1, 0), ("betaS", chosen, 1)].map(|(name, coordinates, squares)| BoxRequest {
            name: name.to_owned(),
            coordinates,
            squares,
            relative_variance: relative_variance.clone(),
        })
    }

    fn relative_variance(&self, entries: u32, share: &BigRational) -> BigRational {
        let doubled = self.relation.sum_moves_by().pow(2);
        BigRational::from(BigInt::from(entries) * BigInt::from(doubled)) / (share * share)
    }

    fn modulus(&self, sums: &[SumPlan], coordinates: u64) -> Result<ModulusPlan, Unplannable> {
        let contributions =
            u128::from(self.participation.clients()) * u128::from(self.records_per_client);
        let blocks = sums.iter().flat_map(|sum| &sum.blocks);
        let plans = blocks.map(|block| {
            SumSize {
                largest_sum: contributions * u128::from(block.bounds.coordinate_bound()),
                shares: self.participation.clients(),
                share_variance: block.share_variance.to_f64(),
                coordinates,
                log_wrap_probability: LOG_WRAP_PROBABILITY,
            }
            .plan()
        });
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let widest = plans.into_iter().max_by_key(|plan| plan.least);
        Ok(widest.unwrap_or_else(|| unreachable!("s is at least 1")))
    }
}
