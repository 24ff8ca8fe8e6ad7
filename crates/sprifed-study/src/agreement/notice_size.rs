//! The largest sizes of messages.

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

/// Signatures, the digest of a set, and places, around an outcome of trustees, also in JSON.
const OUTCOME: usize = 2048;

/// A ciphertext of ML-KEM with what identifies it, rounded up.
const CIPHERTEXT: usize = 1280;

/// A client and the digest of its upload in a trustee's list.
const LISTED_UPLOAD: usize = 36;

impl Agreed {
    /// More bytes than an honest coordinator sends in one notice.
    ///
    /// The bound is generous: it covers everything that could be sent at once, the directory of keys, the
    /// shares of all neighbours, all released sums and the receipt with the agreement in it. It limits
    /// how much a party reads.
    #[must_use]
    pub fn largest_notice(&self) -> usize {
        let (parties, sums) = (self.agreement.parties.len(), self.n_sums() as usize);
        let attempts = u64::from(self.agreement.repeats) + 1;
        let coordinates = self.agreement.plan.coordinates().saturating_mul(attempts);
        let coordinates = usize::try_from(coordinates).unwrap_or(usize::MAX);
        let of_a_party = KEYS_OF_A_PARTY + sums.saturating_mul(SHARES_OF_A_SUM + PARTY_IN_A_SUM);
        let document = self.agreement.to_document().len();
        let of_trustees = self.trustees().map_or(0, |trustees| {
            let outcomes = sums.saturating_mul(OUTCOME);
            outcomes + trustees.largest_upload().max(trustees.largest_frame())
        });
        [
            parties.saturating_mul(of_a_party),
            coordinates.saturating_mul(RELEASED_INTEGER),
            document.saturating_mul(4),
            of_trustees,
            ENVELOPE,
        ]
        .into_iter()
        .fold(0, usize::saturating_add)
    }

    /// The most bytes that an honest party or trustee sends in one message.
    #[must_use]
    pub fn largest_message(&self) -> usize {
        if let Some(trustees) = self.trustees() {
            let pairing = self.agreement.parties.len().max(4) * CIPHERTEXT;
            let list = self.agreement.parties.len() * LISTED_UPLOAD;
            let sums = self.agreement.plan.coordinates() * 8;
            let sums = usize::try_from(sums).unwrap_or(usize::MAX);
            let bodies = [
                trustees.largest_upload(),
                trustees.largest_frame(),
                pairing,
                list,
                sums,
            ];
            return bodies.into_iter().max().unwrap_or(0).saturating_add(4096);
        }
        let Some(study) = self.study() else {
            return 0;
        };
        let sums = 0..study.n_sums();
        let upload = sums
            .filter_map(|sum| study.sum(sum))
            .map(SumShape::packed_len);
        let neighbours = study.parameters().neighbours() as usize;
        let sums = study.n_sums() as usize;
        // Of shares, for each neighbour: two secrets and a wrap of each sum. Of keys: two of each
        // sum, and one of ML-KEM. For each neighbour a ciphertext, or a tag. An envelope around all.
        let (bundle, keys, ciphertext) = (104 * sums + 64, 64 * sums + 1280, 1184);
        upload.max().unwrap_or(0) + neighbours * (bundle + ciphertext) + keys + 1024
    }
}
