//! A choice to be measured: how many clients and candidates, and how wide their numbers are.

use std::sync::Arc;

use num_rational::Ratio;
use sprifed_privacy::SelectionLaw;
use sprifed_secure_sum::ClientId;
use sprifed_trustees::{ChoiceStep, Circuit, Link, Step};

use crate::error::Error;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) clients: u32,
    pub(super) client_bits: u32,
    /// 1/λ of the noise, which is Euler's.
    pub(super) inverse_rate: u32,
    pub(super) candidates: u32,
}

impl Setting {
    /// What a reader calls it.
    pub(super) fn name(&self) -> String {
        let Self {
            clients,
            client_bits: bits,
            candidates,
            ..
        } = self;
        match clients {
            1 => format!("argmax of {candidates} sums of {bits} bits"),
            _ => format!("{clients} clients of {bits} bits, {candidates} candidates"),
        }
    }

    pub(super) const fn rate(&self) -> Ratio<u32> {
        Ratio::new_raw(1, self.inverse_rate)
    }

    /// The step that trustees compute.
    pub(super) fn step(&self) -> Result<Step, Error> {
        let noise_bits = SelectionLaw::Euler.share_bits(self.rate());
        let noise_bits = noise_bits.ok_or_else(|| refuse("the rate has no sampler"))?;
        let widths = vec![self.client_bits; self.clients as usize];
        let step = ChoiceStep::new(self.candidates, widths, noise_bits, Link::default());
        Ok(Step::Choice(step.map_err(refuse)?))
    }

    /// The circuit of `step`, with all clients.
    pub(super) fn circuit(&self, step: &Step) -> Result<Arc<Circuit>, Error> {
        let clients: Vec<_> = (0..self.clients).map(ClientId).collect();
        Ok(Arc::new(step.circuit(&clients).map_err(refuse)?))
    }
}

/// A choice that cannot be made.
pub(super) fn refuse(error: impl core::fmt::Display) -> Error {
    Error::Trustees(error.to_string())
}
