//! Which clients share masks: all pairs, or neighbours in a ring of random order.
//!
//! In the sparse graph clients form a circle in an order drawn from a public seed, and each is
//! a neighbour of the `half` next ones on either side: a Harary graph on a random permutation
//! [BBGLR20, Sec. 3]. Its honest survivors are connected as soon as every run of `half`
//! consecutive places holds one of them, which [`Graph::holds_together`] checks from public data.

use crate::client_set::ClientSet;
use crate::identity::ClientId;
use crate::mask::Stream;
use crate::parameters::Parameters;

#[cfg(test)]
mod tests;

/// The neighbour graph of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    n_clients: u32,
    ring: Option<Ring>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Ring {
    half: u32,
    order: Vec<ClientId>,
    places: Vec<u32>,
}

impl Graph {
    /// The graph of `n_clients` for `seed`.
    ///
    /// # Trust
    /// The seed was drawn after the roster was fixed, and not by a colluder: the seed decides the
    /// neighbours of all clients.
    #[must_use]
    pub fn new(n_clients: u32, parameters: Parameters, seed: &[u8; 32]) -> Self {
        if parameters.is_complete(n_clients) {
            return Self {
                n_clients,
                ring: None,
            };
        }
        let mut order: Vec<ClientId> = (0..n_clients).map(ClientId).collect();
        let mut stream = Stream::new(seed);
        for last in (1..order.len()).rev() {
            let chosen = stream.below(last as u64 + 1);
            order.swap(last, usize::try_from(chosen).unwrap_or(last));
        }
        let mut places = vec![0; order.len()];
        for (place, client) in (0..).zip(&order) {
            if let Some(entry) = places.get_mut(client.0 as usize) {
                *entry = place;
            }
        }
        Self {
            n_clients,
            ring: Some(Ring {
                half: parameters.neighbours() / 2,
                order,
                places,
            }),
        }
    }

    /// The neighbours of `client`, in the order of their slots.
    pub fn neighbours(&self, client: ClientId) -> impl Iterator<Item = ClientId> + '_ {
        let n_neighbours = match &self.ring {
            None => self.n_clients.saturating_sub(1),
            Some(ring) => 2 * ring.half,
        };
        (0..n_neighbours).filter_map(move |slot| self.neighbour(client, slot))
    }

    pub(crate) fn neighbour(&self, client: ClientId, slot: u32) -> Option<ClientId> {
        let Some(ring) = &self.ring else {
            return Some(ClientId(if slot < client.0 { slot } else { slot + 1 }));
        };
        let place = *ring.places.get(client.0 as usize)?;
        let step = match slot.checked_sub(ring.half) {
            None => slot + 1,
            Some(backwards) => self.n_clients - 1 - backwards,
        };
        ring.order
            .get(((place + step) % self.n_clients) as usize)
            .copied()
    }

    /// The slot of `neighbour` among the neighbours of `client`.
    #[must_use]
    pub fn slot(&self, client: ClientId, neighbour: ClientId) -> Option<u8> {
        if client == neighbour || client.0.max(neighbour.0) >= self.n_clients {
            return None;
        }
        let slot = match &self.ring {
            None => neighbour.0 - u32::from(neighbour > client),
            Some(ring) => {
                let place = |client: ClientId| ring.places.get(client.0 as usize).copied();
                let ahead = (self.n_clients + place(neighbour)? - place(client)?) % self.n_clients;
                let behind = self.n_clients - ahead;
                match (ahead <= ring.half, behind <= ring.half) {
                    (true, _) => ahead - 1,
                    (_, true) => ring.half + behind - 1,
                    _ => return None,
                }
            }
        };
        u8::try_from(slot).ok()
    }

    /// Whether `present` leaves no gap: every run of consecutive places that could cut the ring
    /// holds at least `least` of them.
    #[must_use]
    pub fn holds_together(&self, present: &ClientSet, least: u32) -> bool {
        let Some(ring) = &self.ring else {
            return present.len() >= least;
        };
        let at = |place: u32| {
            let client = ring.order.get((place % self.n_clients) as usize);
            u32::from(client.is_some_and(|client| present.contains(*client)))
        };
        let mut inside: u32 = (0..ring.half).map(at).sum();
        for place in 0..self.n_clients {
            if inside < least {
                return false;
            }
            inside = inside + at(place + ring.half) - at(place);
        }
        true
    }
}
