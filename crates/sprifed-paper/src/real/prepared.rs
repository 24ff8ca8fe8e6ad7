//! Records made ready for a fit, and scored beside the null model.

use sprifed_query::Records;
use sprifed_simulate::Method as _;
use sprifed_tables::Table;

use super::RawSet;
use crate::method::{AnyMethod, MethodError};

/// Records for fitting and records for scoring.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub(crate) train: RawSet,
    pub(crate) test: RawSet,
}

/// Where standardised values are clipped, and what they are divided by afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clips {
    pub(crate) feature: f64,
    pub(crate) response: f64,
    /// Divide by the clips, so that noise made for bounds of one fits.
    pub(crate) scaled: bool,
}

/// Records in the units of a fit, with the way back to the units of the score.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    n_features: usize,
    train: Vec<f32>,
    train_responses: Vec<f32>,
    test: Vec<f32>,
    /// In units of the score.
    test_responses: Vec<f64>,
    /// A prediction p becomes offset + factor · p.
    offset: f64,
    factor: f64,
    /// The best constant of the training records, in units of the score.
    constant: f64,
}

/// A model's error and that of the best constant of the training records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Score {
    pub(crate) mse: f64,
    pub(crate) null: f64,
}

/// Mean and standard deviation of each column.
struct Moments(Vec<(f64, f64)>);

impl Moments {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
    fn of(values: &[f64], width: usize) -> Self {
        let count = (values.len() / width.max(1)).max(1) as f64;
        let mut sums = vec![(0.0, 0.0); width];
        for row in values.chunks_exact(width) {
            for (sum, value) in sums.iter_mut().zip(row) {
                sum.0 += value;
                sum.1 += value * value;
            }
        }
        let of = |(sum, squares): (f64, f64)| {
            let mean = sum / count;
            let variance = (squares / count - mean * mean).max(0.0);
            // A constant column says nothing, whatever it is divided by.
            (
                mean,
                if variance > 1e-18 {
                    variance.sqrt()
                } else {
                    1.0
                },
            )
        };
        Self(sums.into_iter().map(of).collect())
    }

    #[expect(clippy::cast_possible_truncation, reason = "records are stored in f32")]
    fn apply(&self, values: &[f64], limit: f64, unit: f64) -> Vec<f32> {
        let rows = values.chunks_exact(self.0.len().max(1));
        rows.flat_map(|row| {
            row.iter().zip(&self.0).map(|(value, (mean, spread))| {
                (((value - mean) / spread).clamp(-limit, limit) / unit) as f32
            })
        })
        .collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

impl Prepared {
    /// The paper's way: features standardised by the training records themselves (an unprotected
    /// statistic), the response by `center` and `scale`, both clipped. The score is in units of the
    /// clipped response.
    #[expect(clippy::cast_possible_truncation, reason = "records are stored in f32")]
    pub(crate) fn as_paper(split: &Split, clips: Clips, (center, scale): (f64, f64)) -> Self {
        let width = split.train.n_features;
        let moments = Moments::of(&split.train.features, width);
        let clipped = |y: &f64| ((y - center) / scale).clamp(-clips.response, clips.response);
        let (unit_x, unit_y) = if clips.scaled {
            (clips.feature, clips.response)
        } else {
            (1.0, 1.0)
        };
        Self {
            n_features: width,
            train: moments.apply(&split.train.features, clips.feature, unit_x),
            train_responses: split
                .train
                .responses
                .iter()
                .map(|y| (clipped(y) / unit_y) as f32)
                .collect(),
            test: moments.apply(&split.test.features, clips.feature, unit_x),
            test_responses: split.test.responses.iter().map(clipped).collect(),
            offset: 0.0,
            factor: unit_y,
            constant: mean(split.train.responses.iter().map(clipped)),
        }
    }

    /// Ours: features and response by public constants alone, clipped to one unit.
    #[expect(clippy::cast_possible_truncation, reason = "records are stored in f32")]
    pub(crate) fn by_public_constants(
        split: &Split,
        (low, high): (f64, f64),
        clips: Clips,
        response: (f64, f64),
    ) -> Self {
        let paper = Self::as_paper(
            split,
            Clips {
                scaled: true,
                ..clips
            },
            response,
        );
        let (middle, half) = (f64::midpoint(low, high), (high - low) / 2.0);
        let unit = |values: &[f64]| -> Vec<f32> {
            let bounded = values
                .iter()
                .map(|value| ((value - middle) / half).clamp(-1.0, 1.0) as f32);
            bounded.collect()
        };
        Self {
            train: unit(&split.train.features),
            test: unit(&split.test.features),
            ..paper
        }
    }

    /// Rows of a table in its bounded units; the score is in the units of its (transformed) response.
    pub(crate) fn of_table(table: &Table, train: &[usize], test: (&Table, &[usize])) -> Self {
        let units = table.mapping().response();
        let pick = |table: &Table, rows: &[usize]| -> Vec<f32> {
            let row = |row: &usize| table.design().row(*row).into_owned();
            rows.iter().flat_map(row).collect()
        };
        let back = |y: f32| units.scale() * f64::from(y);
        Self {
            n_features: table.design().n_features(),
            train: pick(table, train),
            train_responses: train.iter().map(|row| table.response()[*row]).collect(),
            test: pick(test.0, test.1),
            test_responses: test
                .1
                .iter()
                .map(|row| back(test.0.response()[*row]))
                .collect(),
            offset: 0.0,
            factor: units.scale(),
            constant: mean(train.iter().map(|row| back(table.response()[*row]))),
        }
    }

    /// The same records standardised by the training part and clipped, as the paper does; scores keep
    /// their units.
    #[expect(clippy::cast_possible_truncation, reason = "records are stored in f32")]
    pub(crate) fn standardised(&self, limit: f64) -> Self {
        let wide = |values: &[f32]| -> Vec<f64> { values.iter().map(|v| f64::from(*v)).collect() };
        let features = wide(&self.train);
        let moments = Moments::of(&features, self.n_features);
        let responses = wide(&self.train_responses);
        let Moments(of_response) = Moments::of(&responses, 1);
        let (center, spread) = of_response.first().copied().unwrap_or((0.0, 1.0));
        let clipped = |y: &f64| ((y - center) / spread).clamp(-limit, limit) as f32;
        Self {
            n_features: self.n_features,
            train: moments.apply(&features, limit, 1.0),
            train_responses: responses.iter().map(clipped).collect(),
            test: moments.apply(&wide(&self.test), limit, 1.0),
            test_responses: self.test_responses.clone(),
            offset: self.offset + self.factor * center,
            factor: self.factor * spread,
            constant: self.constant,
        }
    }

    pub(crate) fn n_records(&self) -> usize {
        self.train_responses.len()
    }

    pub(crate) const fn n_features(&self) -> usize {
        self.n_features
    }

    /// Fits with noise of this seed and scores the model on the other records.
    pub(crate) fn score(
        &self,
        method: &AnyMethod,
        sparsity: usize,
        seed: u64,
    ) -> Result<Score, MethodError> {
        let records = Records::each_a_unit(&self.train, &self.train_responses, self.n_features)?;
        let model = method.fit(records, sparsity, seed)?.model;
        let rows = self.test.chunks_exact(self.n_features.max(1));
        let errors = rows.zip(&self.test_responses).map(|(row, actual)| {
            let predicted = self.offset + self.factor * model.predict(row);
            (actual - predicted).powi(2)
        });
        Ok(Score {
            mse: mean(errors.collect::<Vec<f64>>().into_iter()),
            null: mean(
                self.test_responses
                    .iter()
                    .map(|actual| (actual - self.constant).powi(2)),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Clips, Prepared, RawSet, Split};
    use sprifed_simulate::Reference;

    use crate::method::AnyMethod;

    fn line(records: usize, shift: f64) -> RawSet {
        let features: Vec<f64> = (0..records)
            .flat_map(|row| [(row as f64 * 0.7).sin() + shift, (row as f64 * 1.3).cos()])
            .collect();
        let responses = features.chunks(2).map(|row| 3.0 + 2.0 * row[0]).collect();
        RawSet {
            n_features: 2,
            features,
            responses,
        }
    }

    #[test]
    fn scores_come_back_in_their_units() {
        let split = Split {
            train: line(200, 5.0),
            test: line(50, 5.0),
        };
        let clips = Clips {
            feature: 9.0,
            response: 9.0,
            scaled: true,
        };
        let prepared = Prepared::as_paper(&split, clips, (13.0, 2.0));
        let score = prepared
            .score(&AnyMethod::Reference(Reference::Omp), 1, 1)
            .unwrap();
        assert!(score.mse < 1e-3 && score.null > 0.3, "{score:?}");
    }
}
