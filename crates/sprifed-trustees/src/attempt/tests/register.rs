//! No word of a stream masks two values, and what is received looks random: over whole runs, with crashes, other sets
//! and repeated attempts.

use super::*;
use crate::message::{Content, FrameKey};
use crate::streams::{Purpose, StepKey, StreamKey, stream_words};

/// From a link and a set to the key of a stream.
type Derive = fn(&StepKey, Purpose, &[u8; 32]) -> StreamKey;

/// What the words of the streams hide from the trustee that lacks them.
struct Register {
    derive: Derive,
    /// By key and number of the stream: what the trustee received, without the stream that it has.
    hidden: BTreeMap<([u8; 32], u64), Vec<u64>>,
    /// By key and nonce of the cipher: what was sealed.
    sealed: BTreeMap<([u8; 32], u32), Vec<u64>>,
    again: usize,
    conflicts: usize,
}

/// A frame on its way, opened.
struct Known {
    from: TrusteeId,
    set: [u8; 32],
    content: Content,
    words: Vec<u64>,
    links: [StepKey; 2],
}

impl Register {
    const fn new(derive: Derive) -> Self {
        Self {
            derive,
            hidden: BTreeMap::new(),
            sealed: BTreeMap::new(),
            again: 0,
            conflicts: 0,
        }
    }

    /// Everything that was sent in a world, also before a crash.
    fn enter_all(&mut self, world: &World) {
        let mut layers = BTreeMap::new();
        for frame in self.opened(world) {
            let [previous, next] = &frame.links;
            let key = |link, purpose| (self.derive)(link, purpose, &frame.set);
            let (place, hidden) = match frame.content {
                // It goes to the next trustee, which lacks the sender's own stream.
                Content::Deal => {
                    let key = key(previous, Purpose::Deals);
                    ((*key.expose(), 0), frame.words)
                }
                // It goes to the previous trustee, which has the sender's own stream and lacks the next one's.
                Content::Layer => {
                    let layer = layers.entry((frame.set, frame.from)).or_insert(0u64);
                    let [own, lacked] = [previous, next].map(|link| key(link, Purpose::Gates));
                    let known = stream_words(&mut own.stream(*layer), frame.words.len());
                    let words = frame.words.iter().zip(known);
                    let place = (*lacked.expose(), *layer);
                    *layer += 1;
                    (place, words.map(|(word, known)| word ^ known).collect())
                }
                Content::Proof | Content::Opening => continue,
            };
            self.enter(place, hidden);
        }
    }

    fn enter(&mut self, place: ([u8; 32], u64), hidden: Vec<u64>) {
        let Some(before) = self.hidden.get(&place) else {
            self.hidden.insert(place, hidden);
            return;
        };
        match before.iter().zip(&hidden).all(|(one, other)| one == other) {
            true => self.again += 1,
            false => self.conflicts += 1,
        }
    }

    /// All frames of a world, in the order in which they were sent.
    fn opened(&mut self, world: &World) -> Vec<Known> {
        let mut sets = Vec::new();
        for line in world.journals.iter().flatten() {
            if let JournalLine::SetSigned { digest } = line {
                sets.push(*digest);
            }
        }
        // The second of two sets is in no journal.
        let attempts = world.attempts.iter().flatten();
        sets.extend(attempts.filter_map(|attempt| attempt.set));
        let mut frames = Vec::new();
        for (from, to, bytes) in &world.said {
            let message = Message::decode(bytes).expect("own");
            let Body::Frame(frame) = message.body else {
                continue;
            };
            let links = world
                .parties
                .setting(message.attempt, &world.step, *from)
                .links;
            let [previous, next] = &links;
            let link = if *to == from.next() { next } else { previous };
            let length = (frame.sealed.len() - 16) / 8;
            let opened = sets.iter().find_map(|set| {
                let key = FrameKey::new(link, set, *from, *to);
                Some((key.open(&frame, length)?.to_vec(), *set, *key.expose()))
            });
            let (words, set, key) = opened.expect("sealed by it");
            let (content, number) = (frame.content, frame.number);
            let sealed = self.sealed.insert((key, number), words.clone());
            self.conflicts += usize::from(sealed.is_some_and(|before| before != words));
            frames.push(Known {
                from: *from,
                set,
                content,
                words,
                links,
            });
        }
        frames
    }
}

/// Worlds with other crashes, other clients and other numbers, and a further attempt in each.
fn after_many_worlds(step: &Arc<Step>, derive: Derive) -> Register {
    let mut register = Register::new(derive);
    let mut whole = World::new(Arc::clone(step));
    whole.run(None);
    register.enter_all(&whole);
    for at in (0..whole.effects).step_by(whole.effects / 12) {
        for victim in TrusteeId::ALL {
            let mut world = World::new(Arc::clone(step));
            world.run(Some((victim, at)));
            register.enter_all(&world);
            // The next attempt has other noise, and may have fewer clients.
            let proof = world.proof();
            for noise in &mut world.noise {
                noise.rotate_left(1);
            }
            if at % 2 == 0 {
                world.sent.pop();
            }
            world.said.clear();
            world.begin(1, proof.as_ref());
            world.run(None);
            register.enter_all(&world);
        }
    }
    // The first attempt with fewer clients, as after all trustees were put back.
    let sent = SENT.each_ref().map(<[i64; 5]>::as_slice);
    let noise = NOISE.each_ref().map(<[i64; 5]>::as_slice);
    let mut fewer = World::of(Arc::clone(step), &sent[..2], noise);
    fewer.run(None);
    register.enter_all(&fewer);
    register
}

/// A proved sum in which the second client is outside its ball.
fn sum() -> Arc<Step> {
    let norms = vec![crate::norms::NormBlock {
        coordinates: 0..5,
        squares: vec![200, 1, 200],
    }];
    let sum = SumStep::new(5, vec![4; 3], 7).expect("legal");
    Arc::new(Step::Sum(sum.with_norms(norms).expect("legal")))
}

#[test]
fn no_word_masks_two_values_whatever_crashes_and_however_the_set_changes() {
    for step in [choice(), sum()] {
        let register = after_many_worlds(&step, StreamKey::new);
        assert_eq!(register.conflicts, 0);
        let (again, places) = (register.again, register.hidden.len());
        assert!(
            again > 100 && places > 100,
            "{places} places, {again} again"
        );
    }
}

#[test]
fn the_register_finds_streams_without_a_set_and_one_stream_for_two_purposes() {
    let planted: [Derive; 2] = [
        |link, purpose, _| StreamKey::new(link, purpose, &[0; 32]),
        |link, _, set| StreamKey::new(link, Purpose::Gates, set),
    ];
    for derive in planted {
        assert!(after_many_worlds(&choice(), derive).conflicts > 0);
    }
}

/// What a trustee receives in a choice among 200 candidates: all words of deals and layers.
fn received(number: i64, by: TrusteeId) -> Vec<u64> {
    let step = ChoiceStep::new(200, vec![5; 4], 6, Link::default()).expect("legal");
    let (sent, noise) = (vec![number; 200], vec![0; 200]);
    let step = Arc::new(Step::Choice(step));
    let mut world = World::of(step, &[sent.as_slice(); 4], [noise.as_slice(); 3]);
    world.run(None);
    let mut register = Register::new(StreamKey::new);
    let frames = register.opened(&world).into_iter();
    let is_received = |frame: &Known| match frame.content {
        Content::Deal => frame.from.next() == by,
        Content::Layer => frame.from.previous() == by,
        Content::Proof | Content::Opening => false,
    };
    frames
        .filter(is_received)
        .flat_map(|frame| frame.words)
        .collect()
}

/// How far the ones are from one half, in standard deviations, and the chi-square of the 256 bytes.
fn statistics(words: &[u64]) -> (f64, f64) {
    let bits = 64.0 * words.len() as f64;
    let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
    let mut counts = [0u32; 256];
    for byte in words.iter().flat_map(|word| word.to_le_bytes()) {
        counts[byte as usize] += 1;
    }
    let expected = bits / 8.0 / 256.0;
    let square = |count: &u32| (f64::from(*count) - expected).powi(2) / expected;
    let z = (f64::from(ones) - bits / 2.0) / (bits / 4.0).sqrt();
    (z, counts.iter().map(square).sum())
}

#[test]
fn what_a_trustee_receives_looks_random_whatever_is_computed() {
    for number in [0, -15] {
        for by in TrusteeId::ALL {
            let words = received(number, by);
            assert!(words.len() > 1000, "{}", words.len());
            let (z, chi_square) = statistics(&words);
            // A false alarm of 6e-7 each; the seeds are fixed.
            assert!(z.abs() < 5.0, "{z}");
            // 255 degrees of freedom: 255 and five standard deviations of 22.6.
            assert!((142.0..368.0).contains(&chi_square), "{chi_square}");
        }
    }
    // What is not masked does not look random.
    let (z, _) = statistics(&[0; 1000]);
    assert!(z.abs() > 100.0);
}
