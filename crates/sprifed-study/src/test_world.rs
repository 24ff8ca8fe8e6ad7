//! A small world for tests: two features matter.

use sprifed_query::{Record, RecordSource};

#[derive(Clone, Debug)]
pub(crate) struct TestWorld {
    records: usize,
    features: usize,
}

impl TestWorld {
    pub(crate) const SUPPORT: [u32; 2] = [4, 17];

    pub(crate) const fn new(records: usize, features: usize) -> Self {
        Self { records, features }
    }
}

impl RecordSource for TestWorld {
    fn n_features(&self) -> usize {
        self.features
    }

    fn n_units(&self) -> usize {
        self.records
    }

    #[expect(clippy::cast_precision_loss, reason = "48 bits of a hash")]
    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        let mut state = unit as u64 + 1;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(0xB5);
            let mixed = (state ^ (state >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
            ((mixed >> 40) as f32 / 8_388_608.0 - 1.0) * 1.7
        };
        let features: Vec<f32> = (0..self.features).map(|_| uniform()).collect();
        let [one, other] = Self::SUPPORT.map(|feature| features.get(feature as usize).copied());
        let response = 2.0 * one.unwrap_or(0.0) - 1.5 * other.unwrap_or(0.0) + 0.05 * uniform();
        visit(Record {
            features: &features,
            response,
            is_present: true,
        });
    }
}
