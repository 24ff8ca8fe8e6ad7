//! The largest size of a coordinator's notice.

use sprifed_secure_sum::SumShape;

use super::Agreed;

/// The keys of a party, with what is sealed for one neighbour: far more than they are.
const KEYS_OF_A_PARTY: usize = 8 << 10;

/// What is sealed for one neighbour for each sum.
const SHARES_OF_A_SUM: usize = 256;

/// The part of a receipt or survivor set about one party in one sum: a signature and its name in
/// JSON.
const PARTY_IN_A_SUM: usize = 256;

/// A released integer with its place in JSON.
const RELEASED_INTEGER: usize = 24;

/// Everything that has the same length in each study.
const ENVELOPE: usize = 1 << 20;

impl Agreed {
    /// More bytes than an honest coordinator sends in one notice.
    ///
    /// The bound is generous: it covers everything that could be sent at once, the directory of keys, the
    /// shares of all neighbours, all released sums and the receipt with the agreement in it. It limits
    /// how much a party reads.
    #[must_use]
    pub fn largest_notice(&self) -> usize {
        let (parties, sums) = (self.agreement.parties.len(), self.study.n_sums());
        let shapes = (0..sums).filter_map(|sum| self.study.sum(sum));
        let coordinates = shapes.map(SumShape::coordinates);
        let coordinates = coordinates.fold(0usize, |sum, shape| sum.saturating_add(shape as usize));
        let sums = sums as usize;
        let of_a_party = KEYS_OF_A_PARTY + sums.saturating_mul(SHARES_OF_A_SUM + PARTY_IN_A_SUM);
        let document = self.agreement.to_document().len();
        [
            parties.saturating_mul(of_a_party),
            coordinates.saturating_mul(RELEASED_INTEGER),
            document.saturating_mul(4),
            ENVELOPE,
        ]
        .into_iter()
        .fold(0, usize::saturating_add)
    }
}
