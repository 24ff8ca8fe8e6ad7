//! The body of an answer, piece by piece: counted and timed, because its sender may never stop.

use std::time::Duration;

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Missed {
    /// The connection failed or was too slow; another attempt may do better.
    Lost(String),
    /// The answer is longer than any honest one; another attempt would be as long.
    TooLong {
        /// The most bytes of an honest answer.
        largest: usize,
    },
}

/// The pieces of an answer that have arrived.
#[derive(Debug)]
pub(super) struct Pieces {
    bytes: Vec<u8>,
    largest: usize,
}

impl Pieces {
    /// None so far, of an answer of at most `largest` bytes; its sender `announced` how many there are.
    pub(super) fn none_yet(largest: usize, announced: Option<u64>) -> Result<Self, Missed> {
        let announced = usize::try_from(announced.unwrap_or(0));
        if announced.map_or(true, |bytes| bytes > largest) {
            return Err(Missed::TooLong { largest });
        }
        let bytes = Vec::new();
        Ok(Self { bytes, largest })
    }

    /// Takes one more, unless they are too many bytes together then.
    pub(super) fn add(&mut self, piece: &[u8]) -> Result<(), Missed> {
        let largest = self.largest;
        if piece.len() > largest - self.bytes.len() {
            return Err(Missed::TooLong { largest });
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// All of them.
    pub(super) fn whole(self) -> Vec<u8> {
        self.bytes
    }
}

/// What `work` results in, unless all of it takes longer than `longest`: a piece now and then does not help.
pub(super) async fn in_time<T>(
    longest: Duration,
    work: impl Future<Output = Result<T, Missed>>,
) -> Result<T, Missed> {
    let late = |_| {
        let seconds = longest.as_secs();
        Missed::Lost(format!("the answer was not complete after {seconds} s"))
    };
    tokio::time::timeout(longest, work).await.map_err(late)?
}

/// How long so many bytes may take on the slowest line that is supported.
pub(super) fn time_for(n_bytes: usize) -> Duration {
    Duration::from_secs((n_bytes / SLOWEST_LINE) as u64)
}

/// In bytes a second.
const SLOWEST_LINE: usize = 16 << 10;
