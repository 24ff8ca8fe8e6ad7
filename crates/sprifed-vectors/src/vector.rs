//! A vector file and typed access to its numbers, which are decimal strings or fractions.

use num_rational::BigRational;
use num_traits::ToPrimitive;
use serde::Deserialize;
use serde_json::{Map, Value};
use sprifed_noise::NoiseParameterError;
use sprifed_privacy::{
    Algorithm, IllegalFraction, IllegalModulus, IllegalParticipation, IllegalQuantity, Unplannable,
    parse_exact,
};

/// A vector that cannot be compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadVector {
    #[error("unknown group {0:?}")]
    UnknownGroup(String),
    #[error("{0:?} is missing or not of the expected form")]
    Field(String),
    #[error(transparent)]
    Quantity(#[from] IllegalQuantity),
    #[error(transparent)]
    Fraction(#[from] IllegalFraction),
    #[error(transparent)]
    Participation(#[from] IllegalParticipation),
    #[error(transparent)]
    Modulus(#[from] IllegalModulus),
    #[error(transparent)]
    Plan(#[from] Unplannable),
    #[error(transparent)]
    Noise(#[from] NoiseParameterError),
}

/// A file of known answers: the part of it that is used.
#[derive(Debug)]
pub struct VectorFile {
    pub(crate) name: String,
    pub(crate) vectors: Vec<Vector>,
}

/// One known answer.
#[derive(Debug, Deserialize)]
pub(crate) struct Vector {
    pub(crate) id: String,
    pub(crate) group: String,
    pub(crate) inputs: Map<String, Value>,
    pub(crate) expected: Map<String, Value>,
    #[serde(default)]
    pub(crate) info: Map<String, Value>,
}

impl VectorFile {
    /// The file with these bytes.
    ///
    /// # Errors
    /// When it is not JSON with `meta.name` and a list of vectors.
    pub fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Meta {
            name: String,
        }
        #[derive(Deserialize)]
        struct File {
            meta: Meta,
            vectors: Vec<Vector>,
        }
        let file: File = serde_json::from_slice(bytes)?;
        Ok(Self {
            name: file.meta.name,
            vectors: file.vectors,
        })
    }
}

impl Vector {
    pub(crate) fn text(&self, key: &str) -> Result<&str, BadVector> {
        self.inputs
            .get(key)
            .and_then(Value::as_str)
            .ok_or_else(|| BadVector::Field(key.to_owned()))
    }

    pub(crate) fn algorithm(&self) -> Result<Algorithm, BadVector> {
        match self.text("algorithm")? {
            "omp" => Ok(Algorithm::Omp),
            "grad" => Ok(Algorithm::Grad),
            _ => Err(BadVector::Field("algorithm".to_owned())),
        }
    }

    pub(crate) fn exact(&self, key: &str) -> Result<BigRational, BadVector> {
        exact(self.inputs.get(key)).ok_or_else(|| BadVector::Field(key.to_owned()))
    }

    pub(crate) fn number(&self, key: &str) -> Result<f64, BadVector> {
        number(self.inputs.get(key)).ok_or_else(|| BadVector::Field(key.to_owned()))
    }

    pub(crate) fn count(&self, key: &str) -> Result<u32, BadVector> {
        let exact = self.exact(key)?;
        let whole = exact
            .is_integer()
            .then(|| exact.to_integer().to_u32())
            .flatten();
        whole.ok_or_else(|| BadVector::Field(key.to_owned()))
    }

    pub(crate) fn quantity<Q: TryFrom<f64, Error = IllegalQuantity>>(
        &self,
        key: &str,
    ) -> Result<Q, BadVector> {
        Ok(Q::try_from(self.number(key)?)?)
    }

    /// A number of the informative part, if it is there.
    pub(crate) fn info(&self, key: &str) -> Option<f64> {
        number(self.info.get(key))
    }
}

/// A number written as JSON number, decimal string or fraction, exactly.
pub(crate) fn exact(value: Option<&Value>) -> Option<BigRational> {
    match value? {
        Value::String(text) => parse_exact(text).ok(),
        Value::Number(number) => parse_exact(&number.to_string()).ok(),
        _ => None,
    }
}

/// The same as the nearest double; numbers too small for an exact fraction go by `f64`'s parser.
pub(crate) fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::String(text) if !text.contains('/') => text.parse().ok(),
        Value::Number(number) => number.as_f64(),
        other => exact(Some(other))?.to_f64(),
    }
}
