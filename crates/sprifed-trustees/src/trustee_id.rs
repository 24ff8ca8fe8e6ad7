//! Which of the three trustees.

/// One of the three trustees, in the order of the agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrusteeId(u8);

impl TrusteeId {
    /// All three.
    pub const ALL: [Self; 3] = [Self(0), Self(1), Self(2)];

    /// The trustee with this number; `None` above 2.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number < 3 { Some(Self(number)) } else { None }
    }

    /// Its number, which is also that of the first of its two shares.
    #[must_use]
    pub const fn share(self) -> u8 {
        self.0
    }

    /// The number as an index.
    #[must_use]
    pub const fn place(self) -> usize {
        self.0 as usize
    }

    /// The trustee that its gates and openings come from.
    #[must_use]
    pub const fn next(self) -> Self {
        Self((self.0 + 1) % 3)
    }

    /// The trustee that its gates and openings go to.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self((self.0 + 2) % 3)
    }

    /// The other two: the previous one, then the next one.
    #[must_use]
    pub const fn peers(self) -> [Self; 2] {
        [self.previous(), self.next()]
    }
}

impl core::fmt::Display for TrusteeId {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "trustee {}", self.0)
    }
}
