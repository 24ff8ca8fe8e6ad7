//! Orthogonal matching pursuit without privacy, with an intercept.

use sprifed_query::Records;
use sprifed_recovery::non_private_omp;

use crate::error::Error;

/// A model of the records themselves. NOT PRIVATE.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactModel {
    /// Chosen features and their coefficients, in the order of the picks.
    pub terms: Vec<(u32, f64)>,
    /// The response where all features are zero.
    pub intercept: f64,
}

/// Orthogonal matching pursuit on centred columns and a centred response. NOT PRIVATE.
///
/// `value(row, feature)` is read twice for each cell; the centred matrix is held in single precision.
///
/// # Errors
/// When there are no records or no features, the sparsity is not from 1 to the number of features, or a
/// centred value overflows single precision.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
pub fn centred_omp(
    n_features: usize,
    responses: &[f64],
    sparsity: usize,
    value: impl Fn(usize, usize) -> f64,
) -> Result<ExactModel, Error> {
    if sparsity == 0 || sparsity > n_features {
        return Err(Error::ExactSparsity {
            found: sparsity,
            features: n_features,
        });
    }
    let n_records = responses.len() as f64;
    let mut means = vec![0.0; n_features];
    for row in 0..responses.len() {
        for (feature, mean) in means.iter_mut().enumerate() {
            *mean += value(row, feature) / n_records;
        }
    }
    let middle = responses.iter().sum::<f64>() / n_records;
    let mut features = Vec::with_capacity(n_features * responses.len());
    for row in 0..responses.len() {
        let centred = means.iter().enumerate();
        features.extend(centred.map(|(feature, mean)| to_f32(value(row, feature) - mean)));
    }
    let centred: Vec<f32> = responses.iter().map(|y| to_f32(y - middle)).collect();
    if !features
        .iter()
        .chain(&centred)
        .all(|value| value.is_finite())
    {
        return Err(Error::SinglePrecision);
    }
    let records = Records::each_a_unit(&features, &centred, n_features);
    let records = records.map_err(Error::NoRecords)?;
    let terms = non_private_omp(&records, sparsity).model.terms;
    let explained = terms
        .iter()
        .map(|(feature, slope)| slope * means[*feature as usize]);
    Ok(ExactModel {
        intercept: middle - explained.sum::<f64>(),
        terms,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "single precision is meant")]
fn to_f32(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::centred_omp;

    #[test]
    fn a_line_far_from_the_origin_is_found_with_its_intercept() {
        let column = |row: usize, feature: usize| match feature {
            0 => 100.0 + row as f64,
            1 => f64::from(u8::from(row.is_multiple_of(3))),
            _ => ((row * 7) % 5) as f64,
        };
        let responses: Vec<f64> = (0..40).map(|row| 3.0 - 2.0 * column(row, 0)).collect();
        let model = centred_omp(3, &responses, 1, column).expect("a model");
        assert_eq!(model.terms[0].0, 0);
        assert!((model.terms[0].1 + 2.0).abs() < 1e-6, "{model:?}");
        assert!((model.intercept - 3.0).abs() < 1e-4, "{model:?}");
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        let responses = [1.0, 2.0, 3.0, 4.0];
        let refusal = |sparsity, scale: f64| {
            let column = |row: usize, feature: usize| scale * ((row * (feature + 2)) % 3) as f64;
            centred_omp(2, &responses, sparsity, column).map_err(|refused| refused.to_string())
        };
        assert!(refusal(1, 1.0).is_ok());
        assert!(refusal(0, 1.0).is_err_and(|words| words.contains("from 1 to the 2")));
        assert!(refusal(3, 1.0).is_err_and(|words| words.contains("is 3")));
        assert!(refusal(1, 1e200).is_err_and(|words| words.contains("single precision")));
    }
}
