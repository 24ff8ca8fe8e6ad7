//! What a step computes, as the public plan says it: a choice among candidates, or a sum.
//!
//! A client's integers of w bits are sent as x + 2^(w−1), so the width is the range check: whatever a
//! client sends is a number between −2^(w−1) and 2^(w−1) − 1.
//!
//! Where norms are verified ([`NormBlock`]) numbers are sent as sign and magnitude, of the same width.
//!
//! The score of a candidate with the sum u is a(u) = max(u, −u − 1). It differs from |u| by one for
//! negative u, needs no gate, and moves by at most one when u does, on the whole cycle of residues.

use sprifed_crypto::identity::ClientId;

use crate::build::add_up::add_up;
use crate::build::group_sizes::{Link, group_sizes};
use crate::build::tournament::tournament;
use crate::builder::Builder;
use crate::circuit::{Circuit, Plane};
use crate::dealt_noise::{DealtNoise, PaidFor};
use crate::evaluate::SharedPlane;
use crate::lane_order::LaneOrder;
use crate::lanes::{from_planes, to_planes};
use crate::norms::{NormBlock, by_client, norm_circuit};
use crate::proof::MOST_WORDS;

/// A step that cannot be planned, or numbers that do not belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalStep {
    /// No candidates or coordinates, or too many.
    #[error("a step has {found} lanes, but 1 to 2^24 are possible")]
    Lanes {
        /// Lanes given.
        found: u32,
    },
    /// A width that is not possible.
    #[error("numbers of {found} bits were asked for, but 1 to {most} are possible")]
    Bits {
        /// Bits given or needed.
        found: u32,
        /// The most.
        most: u32,
    },
    /// Not one number for each candidate or coordinate.
    #[error("{found} numbers were given for {required} candidates or coordinates")]
    Count {
        /// Numbers given.
        found: usize,
        /// Numbers needed.
        required: u32,
    },
    /// A number that its width cannot hold.
    #[error("a number does not fit in the {bits} bits that the plan gives it")]
    Range {
        /// The width.
        bits: u32,
    },
    /// Noise of a sum for a choice, or of a choice for a sum.
    #[error("the noise was paid for another kind of step")]
    OtherNoise,
    /// Norms of blocks that the sum does not have, or not one bound for each client.
    #[error(
        "a block whose norm is verified needs coordinates of the sum and one bound for each client"
    )]
    Norms,
    /// A client that the plan does not have.
    #[error("{client} is not in the plan")]
    Stranger {
        /// Who.
        client: ClientId,
    },
}

/// The most bits of a sum or of a noisy score.
const MOST_BITS: u32 = 62;

/// The most bits of a sum of squares.
const MOST_NORM_BITS: u32 = 126;

/// The most candidates or coordinates.
const MOST_LANES: u32 = 1 << 24;

/// A choice: the index of the candidate with the largest noisy score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceStep {
    order: LaneOrder,
    client_bits: Vec<u32>,
    noise_bits: u32,
    batch_words: Option<usize>,
}

/// A sum: every coordinate with its noise, modulo 2^bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumStep {
    coordinates: u32,
    client_bits: Vec<u32>,
    bits: u32,
    batch_words: Option<usize>,
    /// Numbers are sent as sign and magnitude if there is one.
    norms: Vec<NormBlock>,
}

/// What the trustees compute in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An index is opened.
    Choice(ChoiceStep),
    /// Noisy sums are opened.
    Sum(SumStep),
}

/// What a step opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The candidate that was chosen.
    Index(u32),
    /// The noisy sums, as the integers nearest to zero.
    Sums(Vec<i64>),
}

impl ChoiceStep {
    /// A choice among `candidates`, with the width of every client of the roster and of a noise share.
    ///
    /// # Errors
    /// When there is no candidate or too many, or a number would be too wide.
    pub fn new(
        candidates: u32,
        client_bits: Vec<u32>,
        noise_bits: u32,
        link: Link,
    ) -> Result<Self, IllegalStep> {
        check_lanes(candidates)?;
        check_bits(noise_bits, MOST_BITS - 3)?;
        let sum_bits = sum_bits(&client_bits)?;
        let score_bits = score_bits(sum_bits, noise_bits);
        check_bits(score_bits, MOST_BITS)?;
        let sizes = group_sizes(candidates, score_bits, link);
        let order = LaneOrder::new(candidates, sizes);
        Ok(Self {
            order: order.ok_or(IllegalStep::Lanes { found: candidates })?,
            client_bits,
            noise_bits,
            batch_words: None,
        })
    }

    /// Which lane each candidate has.
    #[must_use]
    pub const fn order(&self) -> &LaneOrder {
        &self.order
    }

    fn circuit(&self, clients: &[u32]) -> Circuit {
        // The roster's widths were added up when the step was planned.
        let k = sum_bits(&self.client_bits).unwrap_or(MOST_BITS);
        let lanes = self.order.lanes();
        let noise = [self.noise_bits; 3];
        let mut builder = Builder::new(
            clients
                .iter()
                .chain(&noise)
                .flat_map(|bits| core::iter::repeat_n(lanes, *bits as usize)),
        );
        let mut inputs = builder.inputs();
        let mut columns = columns(&mut inputs, clients, k);
        add_constant(
            &mut builder,
            lanes,
            &mut columns,
            offset(clients, k, 1 << (k - 1)),
        );
        let mut score = add_up(&mut builder, lanes, columns);
        if let Some(is_not_negative) = score.pop() {
            let is_negative = builder.not(is_not_negative);
            for plane in &mut score {
                *plane = builder.xor(*plane, is_negative);
            }
        }
        let v = score_bits(k, self.noise_bits);
        let mut noisy = self::columns(&mut inputs, &noise, v);
        for (column, plane) in noisy.iter_mut().zip(score) {
            column.push(plane);
        }
        let mut noisy = add_up(&mut builder, lanes, noisy);
        if lanes != self.order.candidates() {
            for plane in &mut noisy {
                *plane = builder.mask(*plane, self.order.occupied());
            }
        }
        let digits = tournament(&mut builder, noisy, self.order.sizes());
        builder.finish(digits.concat())
    }

    fn output(&self, planes: &[Vec<u64>]) -> Option<Output> {
        let mut rest = planes;
        let mut digits = Vec::new();
        for size in self.order.sizes() {
            let bits = (u32::BITS - (size - 1).leading_zeros()) as usize;
            let (digit, after) = rest.split_at_checked(bits)?;
            digits.push(from_planes(digit, 1).first().copied()?);
            rest = after;
        }
        let index = self.order.candidate(&digits);
        let index = u32::try_from(index).ok()?;
        (index < self.order.candidates()).then_some(Output::Index(index))
    }
}

impl SumStep {
    /// A sum of `coordinates` integers modulo 2^`bits`, with the width of every client of the roster.
    ///
    /// # Errors
    /// When there is no coordinate or too many, or a number is too wide.
    pub fn new(coordinates: u32, client_bits: Vec<u32>, bits: u32) -> Result<Self, IllegalStep> {
        check_lanes(coordinates)?;
        check_bits(bits, MOST_BITS)?;
        for width in &client_bits {
            check_bits(*width, bits)?;
        }
        Ok(Self {
            coordinates,
            client_bits,
            bits,
            batch_words: None,
            norms: Vec::new(),
        })
    }

    /// The same sum, in which the norms of these blocks are verified for each client. Gates are then proved, as bits
    /// are opened before the noise is added.
    ///
    /// # Errors
    /// When a block has no coordinate or one that the sum does not have, has not one bound for each client, or its
    /// sum of squares would be too wide.
    pub fn with_norms(mut self, norms: Vec<NormBlock>) -> Result<Self, IllegalStep> {
        let widest = self.client_bits.iter().max().map_or(0, |bits| bits - 1);
        for block in &norms {
            let is_legal = !block.coordinates.is_empty()
                && block.coordinates.end <= self.coordinates
                && block.squares.len() == self.client_bits.len();
            if !is_legal {
                return Err(IllegalStep::Norms);
            }
            check_bits(block.bits(widest).max(1), MOST_NORM_BITS)?;
        }
        self.norms = norms;
        self.batch_words = Some(MOST_WORDS);
        Ok(self)
    }

    /// The bits of the widest magnitude of these clients.
    fn magnitude(&self, clients: &[ClientId]) -> u32 {
        let bits = clients
            .iter()
            .filter_map(|client| self.client_bits.get(client.0 as usize));
        bits.max().map_or(0, |bits| bits - 1)
    }

    fn norm_circuit(&self, clients: &[ClientId]) -> Circuit {
        let bound = |block: &NormBlock, client: &ClientId| {
            let bound = block.squares.get(client.0 as usize);
            bound.copied().unwrap_or(0)
        };
        let of_block = |block| clients.iter().map(|client| bound(block, client)).collect();
        let bounds: Vec<Vec<_>> = self.norms.iter().map(of_block).collect();
        let lanes = u32::try_from(clients.len()).unwrap_or(u32::MAX);
        norm_circuit(&self.norms, &bounds, lanes, self.magnitude(clients))
    }

    /// Columns of the clients' numbers in sign and magnitude, and what must be added to them. With the sign s and m
    /// bits of magnitude x = (magnitude ⊕ s) + s + ¬s 2^m − 2^m.
    fn signed_columns(
        &self,
        builder: &mut Builder,
        inputs: &mut impl Iterator<Item = Plane>,
        clients: &[u32],
    ) -> (Vec<Vec<Plane>>, u64) {
        let mut columns = vec![Vec::new(); self.bits as usize];
        let mut constant = 0u64;
        for width in clients {
            let planes: Vec<_> = inputs.by_ref().take(*width as usize).collect();
            let Some((sign, magnitude)) = planes.split_last() else {
                continue;
            };
            let mut weighted = vec![(0, *sign)];
            for (weight, plane) in magnitude.iter().enumerate() {
                weighted.push((weight, builder.xor(*plane, *sign)));
            }
            weighted.push((magnitude.len(), builder.not(*sign)));
            for (weight, plane) in weighted {
                if let Some(column) = columns.get_mut(weight) {
                    column.push(plane);
                }
            }
            constant = constant.wrapping_sub(1 << magnitude.len());
        }
        (columns, constant & ((1 << self.bits) - 1))
    }

    fn circuit(&self, clients: &[u32]) -> Circuit {
        let noise = [self.bits; 3];
        let widths: Vec<_> = clients.iter().chain(&noise).copied().collect();
        let mut builder = Builder::new(
            widths
                .iter()
                .flat_map(|bits| core::iter::repeat_n(self.coordinates, *bits as usize)),
        );
        let mut inputs = builder.inputs();
        let (mut columns, constant) = if self.norms.is_empty() {
            let columns = columns(&mut inputs, clients, self.bits);
            (columns, offset(clients, self.bits, 0))
        } else {
            self.signed_columns(&mut builder, &mut inputs, clients)
        };
        let noise = self::columns(&mut inputs, &noise, self.bits);
        for (column, noise) in columns.iter_mut().zip(noise) {
            column.extend(noise);
        }
        add_constant(&mut builder, self.coordinates, &mut columns, constant);
        let sum = add_up(&mut builder, self.coordinates, columns);
        builder.finish(sum)
    }

    fn output(&self, planes: &[Vec<u64>]) -> Output {
        let spare = u64::BITS - self.bits;
        let centred = |residue: u64| (residue << spare).cast_signed() >> spare;
        let residues = from_planes(planes, self.coordinates);
        Output::Sums(residues.into_iter().map(centred).collect())
    }
}

impl Step {
    /// The same step, in which every trustee proves its gates before anything is opened. All three trustees must
    /// have the same: it is part of the set that they sign.
    #[must_use]
    pub fn proved(self) -> Self {
        self.proved_in_batches(MOST_WORDS)
    }

    /// As [`Self::proved`], with batches of so many words of gates.
    pub(crate) fn proved_in_batches(mut self, words: usize) -> Self {
        let batch = match &mut self {
            Self::Choice(choice) => &mut choice.batch_words,
            Self::Sum(sum) => &mut sum.batch_words,
        };
        *batch = Some(words.clamp(1, MOST_WORDS));
        self
    }

    /// Whether gates are proved before anything is opened.
    #[must_use]
    pub const fn is_proved(&self) -> bool {
        self.batch_words().is_some()
    }

    /// The most words of gates that are proved at once, if gates are proved.
    pub(crate) const fn batch_words(&self) -> Option<usize> {
        match self {
            Self::Choice(choice) => choice.batch_words,
            Self::Sum(sum) => sum.batch_words,
        }
    }

    /// How many lanes a plane of the inputs has.
    #[must_use]
    pub fn lanes(&self) -> u32 {
        match self {
            Self::Choice(choice) => choice.order.lanes(),
            Self::Sum(sum) => sum.coordinates,
        }
    }

    /// How many numbers a client sends: one for each candidate or coordinate.
    #[must_use]
    pub const fn n_numbers(&self) -> u32 {
        match self {
            Self::Choice(choice) => choice.order.candidates(),
            Self::Sum(sum) => sum.coordinates,
        }
    }

    /// The width of a client's numbers.
    ///
    /// # Errors
    /// When the plan does not have the client.
    pub fn client_bits(&self, client: ClientId) -> Result<u32, IllegalStep> {
        let bits = match self {
            Self::Choice(choice) => &choice.client_bits,
            Self::Sum(sum) => &sum.client_bits,
        };
        let bits = bits.get(client.0 as usize).copied();
        bits.ok_or(IllegalStep::Stranger { client })
    }

    /// The width of a trustee's noise share.
    #[must_use]
    pub const fn noise_bits(&self) -> u32 {
        match self {
            Self::Choice(choice) => choice.noise_bits,
            Self::Sum(sum) => sum.bits,
        }
    }

    /// The circuit for the numbers of these clients, in this order, and three noise shares.
    ///
    /// # Errors
    /// When the plan does not have one of them.
    pub fn circuit(&self, clients: &[ClientId]) -> Result<Circuit, IllegalStep> {
        let widths: Result<Vec<_>, _> = clients.iter().map(|one| self.client_bits(*one)).collect();
        let widths = widths?;
        Ok(match self {
            Self::Choice(choice) => choice.circuit(&widths),
            Self::Sum(sum) => sum.circuit(&widths),
        })
    }

    /// The circuit of the clients' norms, if norms are verified and there is a client: one bit for each, whether its
    /// numbers lie in all balls.
    #[must_use]
    pub fn norm_circuit(&self, clients: &[ClientId]) -> Option<Circuit> {
        match self {
            Self::Sum(sum) if !sum.norms.is_empty() && !clients.is_empty() => {
                Some(sum.norm_circuit(clients))
            }
            Self::Sum(_) | Self::Choice(_) => None,
        }
    }

    /// A trustee's shares of the inputs of [`Self::norm_circuit`], from its shares of each client's planes.
    pub(crate) fn norm_inputs(
        &self,
        clients: &[ClientId],
        planes: &[Vec<SharedPlane>],
    ) -> Vec<SharedPlane> {
        match self {
            Self::Sum(sum) => by_client(&sum.norms, planes, sum.magnitude(clients)),
            Self::Choice(_) => Vec::new(),
        }
    }

    /// The planes of a client's numbers.
    ///
    /// # Errors
    /// When there are too few or too many, or one does not fit the client's width.
    pub fn contribution(
        &self,
        client: ClientId,
        numbers: &[i64],
    ) -> Result<Vec<Vec<u64>>, IllegalStep> {
        let bits = self.client_bits(client)?;
        let half = 1i64 << (bits - 1);
        let is_signed = matches!(self, Self::Sum(sum) if !sum.norms.is_empty());
        let encoded = numbers.iter().map(|number| {
            let sign = i64::from(*number < 0);
            match is_signed {
                // The sign is the last plane.
                true => Some(number.checked_abs()?)
                    .filter(|size| *size < half)
                    .map(|size| (size + sign * half).cast_unsigned()),
                false => {
                    let fits = (-half..half).contains(number);
                    fits.then(|| (number + half).cast_unsigned())
                }
            }
        });
        self.planes(encoded, bits)
    }

    /// The planes of a trustee's noise.
    ///
    /// # Errors
    /// When it was paid for another kind of step, there are too few or too many, or one does not fit.
    pub(crate) fn noise(&self, noise: &DealtNoise) -> Result<Vec<Vec<u64>>, IllegalStep> {
        let paid_for = match self {
            Self::Choice(_) => PaidFor::Choice,
            Self::Sum(_) => PaidFor::Sum,
        };
        if noise.paid_for != paid_for {
            return Err(IllegalStep::OtherNoise);
        }
        self.noise_planes(&noise.numbers)
    }

    /// The planes of numbers as a noise share has them: not negative for a choice, modulo 2^bits for a
    /// sum. For clear bits; trustees deal [`DealtNoise`] only.
    ///
    /// # Errors
    /// When there are too few or too many, or one does not fit.
    pub fn noise_planes(&self, numbers: &[i64]) -> Result<Vec<Vec<u64>>, IllegalStep> {
        let bits = self.noise_bits();
        let residue = |number: &i64| match self {
            Self::Choice(_) => u64::try_from(*number).ok().filter(|one| one >> bits == 0),
            Self::Sum(_) => Some(number.cast_unsigned() & ((1 << bits) - 1)),
        };
        self.planes(numbers.iter().map(residue), bits)
    }

    fn planes(
        &self,
        numbers: impl ExactSizeIterator<Item = Option<u64>>,
        bits: u32,
    ) -> Result<Vec<Vec<u64>>, IllegalStep> {
        let (found, required) = (numbers.len(), self.n_numbers());
        if found != required as usize {
            return Err(IllegalStep::Count { found, required });
        }
        let numbers: Option<Vec<_>> = numbers.collect();
        let numbers = numbers.ok_or(IllegalStep::Range { bits })?;
        Ok(match self {
            Self::Choice(choice) => to_planes(&choice.order.arrange(&numbers), bits),
            Self::Sum(_) => to_planes(&numbers, bits),
        })
    }

    /// What opened planes say; `None` for an index that no candidate has, which comes only from a
    /// trustee that deviates.
    #[must_use]
    pub fn output(&self, planes: &[Vec<u64>]) -> Option<Output> {
        match self {
            Self::Choice(choice) => choice.output(planes),
            Self::Sum(sum) => Some(sum.output(planes)),
        }
    }
}

/// k: the smallest width with 2^(k−1) ≥ Σ 2^(w−1) over all clients, so that no sum wraps.
fn sum_bits(client_bits: &[u32]) -> Result<u32, IllegalStep> {
    let mut total = 0u128;
    for bits in client_bits {
        check_bits(*bits, MOST_BITS)?;
        total += 1 << (bits - 1);
    }
    let found = 1 + total.max(1).next_power_of_two().trailing_zeros();
    check_bits(found, MOST_BITS)?;
    Ok(found)
}

/// Bits of a score below 2^(k−1) with three noise shares below 2^m: no overflow is possible.
const fn score_bits(sum_bits: u32, noise_bits: u32) -> u32 {
    let (score, noise) = (sum_bits - 1, noise_bits + 2);
    1 + if score > noise { score } else { noise }
}

/// What makes Σ (x + 2^(w−1)) into Σ x + `shift`, modulo 2^`bits`.
fn offset(clients: &[u32], bits: u32, shift: u64) -> u64 {
    let added = clients.iter().map(|width| 1u64 << (width - 1));
    let offset = added.fold(shift, u64::wrapping_sub);
    offset & ((1 << bits) - 1)
}

/// The next inputs, by weight, for numbers of these widths.
fn columns(inputs: &mut impl Iterator<Item = Plane>, widths: &[u32], bits: u32) -> Vec<Vec<Plane>> {
    let mut columns = vec![Vec::new(); bits as usize];
    for width in widths {
        for (column, plane) in columns
            .iter_mut()
            .zip(inputs.by_ref().take(*width as usize))
        {
            column.push(plane);
        }
    }
    columns
}

fn add_constant(builder: &mut Builder, lanes: u32, columns: &mut [Vec<Plane>], constant: u64) {
    for (bit, column) in columns.iter_mut().enumerate() {
        if (constant >> bit) & 1 == 1 {
            column.push(builder.constant(lanes, true));
        }
    }
}

const fn check_lanes(found: u32) -> Result<(), IllegalStep> {
    if found == 0 || found > MOST_LANES {
        return Err(IllegalStep::Lanes { found });
    }
    Ok(())
}

const fn check_bits(found: u32, most: u32) -> Result<(), IllegalStep> {
    if found == 0 || found > most {
        return Err(IllegalStep::Bits { found, most });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
