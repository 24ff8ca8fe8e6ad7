//! The first of two circuits of an attempt whose norms are verified: which clients are inside their balls.
//!
//! Its opening spends nothing. The bit of a client that does as agreed is one, whatever its numbers are. The streams and
//! frames of the second circuit, which adds up, are bound to the second set.

use std::sync::Arc;

use super::run::{Phase, Run};
use super::{Attempt, Refused};
use crate::evaluate::SharedPlane;
use crate::message::Body;
use crate::norms::outside;
use crate::set::{Counted, Statement, second_set_digest};

impl Attempt {
    /// This trustee's shares of the inputs of the first circuit.
    pub(super) fn norm_inputs(&self) -> Vec<SharedPlane> {
        let lanes = self.setting.step.lanes();
        // Uploads of the set, in the order of clients.
        let planes: Vec<_> = self.uploads.values().map(|one| one.planes(lanes)).collect();
        self.setting.step.norm_inputs(&self.clients.inside, &planes)
    }

    /// Leaves out the clients whose bit is not set, and signs the set without them.
    pub(super) fn sign_second_set(&mut self, opened: &[Vec<u64>]) -> Result<(), Refused> {
        let plane = opened.first().map_or(&[][..], Vec::as_slice);
        let places = outside(plane, self.clients.inside.len());
        let Counted { inside, outside } = &mut self.clients;
        let named = places.iter().filter_map(|place| inside.get(*place));
        *outside = named.copied().collect();
        // Both are in ascending order.
        inside.retain(|client| outside.binary_search(client).is_err());
        for client in outside.iter() {
            self.uploads.remove(client);
        }
        if self.clients.inside.is_empty() {
            return self.give_up();
        }
        let circuit = Arc::new(self.setting.step.circuit(&self.clients.inside)?);
        let first = self.set.unwrap_or_default();
        let attempt = &self.setting.attempt;
        let set = second_set_digest(attempt, &first, &self.clients.inside, &circuit.digest());
        let signature = Statement::SecondSet.sign(&self.setting.identity, &set);
        self.tell_peers(&Body::SecondSet(signature));
        self.run = Some(Run::new(circuit, Phase::Outcome, &self.setting, &set));
        self.set = Some(set);
        self.is_second_set = true;
        self.set_signatures = [None; 3];
        self.checked_signatures = [None; 3];
        super::keep(&mut self.set_signatures, self.setting.trustee, signature);
        self.take_early(Statement::SecondSet)
    }
}
