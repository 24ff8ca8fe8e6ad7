//! One number of a `.npy` array.

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    kind: Kind,
    size: usize,
    is_big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Signed,
    Unsigned,
}

impl Item {
    /// Reads a type such as `<f4`; half floats, complex numbers, dates and text are not numbers here.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut characters = text.chars();
        let is_big_endian = match characters.next()? {
            '<' | '|' | '=' => false,
            '>' => true,
            _ => return None,
        };
        let (kind, smallest) = match characters.next()? {
            'f' => (Kind::Float, 4),
            'i' => (Kind::Signed, 1),
            'u' | 'b' => (Kind::Unsigned, 1),
            _ => return None,
        };
        let size: usize = characters.as_str().parse().ok()?;
        let is_known = matches!(size, 1 | 2 | 4 | 8) && size >= smallest;
        is_known.then_some(Self {
            kind,
            size,
            is_big_endian,
        })
    }

    /// Bytes of one number.
    pub(super) const fn size(self) -> usize {
        self.size
    }

    /// The number at position `at` of `bytes`.
    pub(super) fn decode(self, bytes: &[u8], at: usize) -> f64 {
        // Little-endian, in the low bytes.
        let mut eight = [0u8; 8];
        let low = &mut eight[..self.size];
        low.copy_from_slice(&bytes[at * self.size..(at + 1) * self.size]);
        if self.is_big_endian {
            low.reverse();
        }
        let bits = u64::from_le_bytes(eight);
        match self.kind {
            Kind::Float if self.size == 4 => {
                let [a, b, c, d, ..] = eight;
                f64::from(f32::from_le_bytes([a, b, c, d]))
            }
            Kind::Float => f64::from_bits(bits),
            Kind::Unsigned => to_f64(i128::from(bits)),
            Kind::Signed => {
                let unused = 64 - 8 * self.size;
                to_f64(i128::from((bits << unused).cast_signed() >> unused))
            }
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "beyond 2^53 the nearest number is good enough"
)]
fn to_f64(number: i128) -> f64 {
    number as f64
}
