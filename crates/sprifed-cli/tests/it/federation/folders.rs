//! What a party's folder gives away: after a kill between charge and answer, after the study, and put back in its middle.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sprifed_party::StudyFolder;
use sprifed_study::{Agreed, Derivation, Digest, JournalLine, Order, Released};

use super::hostile::small;
use super::lying_coordinator::{
    Honest, Lie, agreed, all_end, check_charges, journal, log, said, serve, start_all, study_of,
    upload,
};
use super::stage::{Kind, Running, Stage, pause, wait_until};

/// The journal of `party`, which may be just writing it.
fn lines_so_far(stage: &Stage, party: u32) -> Vec<JournalLine> {
    let stored = study_of(stage, party).and_then(|folder| {
        let stored = StudyFolder::new(folder).look_into().ok();
        stored.flatten()
    });
    stored.unwrap_or_default().lines
}

fn count(lines: &[JournalLine], is_such: fn(&JournalLine) -> bool) -> usize {
    lines.iter().filter(|line| is_such(line)).count()
}

fn is_charge(line: &JournalLine) -> bool {
    matches!(line, JournalLine::Charged { .. })
}

fn is_upload(line: &JournalLine) -> bool {
    matches!(line, JournalLine::Uploaded { .. })
}

fn has_open_charge(lines: &[JournalLine]) -> bool {
    count(lines, is_charge) > count(lines, is_upload)
}

/// Lets party 0 run in short slices until its journal has a charge without an answer, and leaves it stopped there;
/// `false` if the study ended before.
fn stop_between_charge_and_answer(stage: &Stage, party: &mut Running) -> bool {
    for _ in 0..100_000 {
        if party.is_over() {
            return false;
        }
        party.stop();
        if has_open_charge(&lines_so_far(stage, 0)) {
            return true;
        }
        party.let_run();
        pause(Duration::from_millis(3));
    }
    panic!("the study did not go on");
}

#[test]
fn a_party_that_is_killed_between_charge_and_answer_counts_the_sum_as_spent_and_answers_it_once() {
    let kind = Kind {
        // Adding them up takes several slices.
        records: 6000,
        ..small(3, 3)
    };
    let stage = Stage::new("kill-charged", kind);
    let serving = serve(&stage, Honest);
    let mut parties = start_all(&stage);
    let mut n_found = 0;
    for _ in 0..8 {
        if !stop_between_charge_and_answer(&stage, &mut parties[0]) {
            break;
        }
        std::mem::replace(&mut parties[0], Running::none()).kill();
        n_found += usize::from(has_open_charge(&journal(&stage, 0)));
        parties[0] = Running::start(&mut stage.join(0), &log(&stage, 0));
        if n_found == 2 {
            break;
        }
    }
    assert!(n_found > 0, "it was never killed in between");
    all_end(&stage, parties, &[0; 3]);
    let said = said(&stage, 0);
    assert!(said.contains("it counts as spent"), "{said}");
    check_charges(&stage, &serving);
    serving.finish();
    stage.check_result();
    stage.check_charged_as_stated(0..1);
}

/// Pieces of a secret that are looked for.
const PIECE: usize = 16;

/// The first file of `folder` that holds a piece of one of `secrets`: as bytes, as a list of numbers or in hexadecimal.
fn holder(folder: &Path, secrets: &[Vec<u8>]) -> Option<String> {
    let pieces: HashSet<&[u8]> = secrets
        .iter()
        .flat_map(|secret| secret.windows(PIECE))
        .collect();
    let eighths = || {
        secrets
            .iter()
            .flat_map(|secret| secret.chunks_exact(PIECE / 2))
    };
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if let Some(found) = holder(&path, secrets) {
                return Some(found);
            }
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let is_listed = |piece: &[u8]| {
            let list = piece.iter().map(ToString::to_string).collect::<Vec<_>>();
            let digits: String = piece.iter().map(|byte| format!("{byte:02x}")).collect();
            text.contains(&list.join(",")) || text.contains(&digits)
        };
        if bytes.windows(PIECE).any(|window| pieces.contains(window)) || eighths().any(is_listed) {
            return Some(path.display().to_string());
        }
    }
    None
}

/// All words of 64 hexadecimal digits, as bytes.
fn secrets_in(text: &str) -> Vec<Vec<u8>> {
    let words = text.split_whitespace().filter(|word| word.len() == 64);
    let secrets = words.filter_map(|word| Digest::try_from(word.to_owned()).ok());
    secrets.map(|secret| secret.0.to_vec()).collect()
}

#[test]
fn a_folder_that_is_taken_after_the_study_opens_nothing() {
    let stage = Stage::new("taken", small(3, 3).secret());
    let serving = serve(&stage, Honest);
    let first = Running::start(&mut stage.join(0), &log(&stage, 0));
    // What a thief who came too early would have had.
    let key = || study_of(&stage, 0).and_then(|folder| fs::read(folder.join("party.key")).ok());
    wait_until("a key", || key().is_some_and(|key| !key.is_empty()));
    let early = secrets_in(&String::from_utf8(key().unwrap()).unwrap());
    assert!(early.len() > 2, "a root, and a secret for each step");
    let others = (1..3).map(|party| Running::start(&mut stage.join(party), &log(&stage, party)));
    let parties = [first].into_iter().chain(others).collect();
    all_end(&stage, parties, &[0; 3]);
    check_charges(&stage, &serving);
    for party in 0..3 {
        let uploads = serving.uploads(party).into_iter();
        let uploads: Vec<Vec<u8>> = uploads.map(|(_, upload)| upload.packed).collect();
        assert!(uploads.iter().any(|packed| packed.len() > 4 * PIECE));
        let folder = stage.party(party);
        assert_eq!(holder(&folder, &uploads), None, "an upload was kept");
        let study = study_of(&stage, party).unwrap();
        assert!(!study.join("party.key").exists(), "the key was kept");
        // What is looked for would be found.
        let planted = stage.folder.join(format!("planted{party}"));
        fs::create_dir(&planted).unwrap();
        fs::write(
            planted.join("list"),
            format!("{:?}", uploads.iter().max_by_key(|one| one.len()).unwrap()).replace(' ', ""),
        )
        .unwrap();
        assert!(holder(&planted, &uploads).is_some());
    }
    assert_eq!(
        holder(&stage.party(0), &early),
        None,
        "a part of the key was kept"
    );
    serving.finish();
}

/// What party 0 is shown when it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// Not asked for sum 1.
    Nothing,
    /// The transcript as it is; its answer does not reach the study.
    Same,
    /// Another integer in sum 0.
    Other,
    /// As it is, and the study goes on.
    Truth,
}

struct Rewinder {
    agreed: Arc<Agreed>,
    shown: Arc<Mutex<Shown>>,
    /// Sum 0 as party 0 was shown it last.
    released: Option<Released>,
}

impl Lie for Rewinder {
    fn tell(&mut self, party: u32, order: &[u8]) -> Vec<Vec<u8>> {
        let shown = *self.shown.lock().unwrap();
        let as_it_is = vec![order.to_vec()];
        match Order::decode(order) {
            _ if party != 0 || matches!(shown, Shown::Same | Shown::Truth) => as_it_is,
            Ok(Order::Released(mut released)) if shown == Shown::Other && released.sum == 0 => {
                released.values[0] ^= 1;
                self.released = Some(released.clone());
                vec![Order::Released(released).encode()]
            }
            Ok(Order::Ask { sum: 1, .. }) if shown == Shown::Other => {
                let mut derived = Derivation::begin(Arc::clone(&self.agreed)).unwrap();
                derived.take(self.released.clone().unwrap()).unwrap();
                let lie = Order::Ask {
                    sum: 1,
                    transcript: derived.transcript().head(),
                    question: derived.question().unwrap(),
                };
                vec![lie.encode()]
            }
            Ok(Order::Ask { sum: 1, .. }) => Vec::new(),
            _ => as_it_is,
        }
    }

    fn passes_on(&mut self, party: u32, message: &[u8]) -> bool {
        let is_held = *self.shown.lock().unwrap() != Shown::Truth;
        let is_of_sum_1 = upload(message).is_some_and(|(sum, _)| sum == 1);
        !(party == 0 && is_of_sum_1 && is_held)
    }
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Entries of `bits` bits, the lowest first.
fn unpack(packed: &[u8], bits: u32, n_entries: u32) -> Vec<u64> {
    let bit = |place: u32| u64::from(packed[place as usize / 8] >> (place % 8) & 1);
    let entry = |number: u32| {
        (0..bits)
            .map(|place| bit(number * bits + place) << place)
            .sum()
    };
    (0..n_entries).map(entry).collect()
}

#[test]
fn a_folder_that_was_put_back_says_the_same_again_or_hides_it_under_other_masks() {
    let stage = Stage::new("rewound", small(3, 3).secret());
    let agreed = agreed(&stage);
    let shown = Arc::new(Mutex::new(Shown::Nothing));
    let lie = Rewinder {
        agreed: Arc::clone(&agreed),
        shown: Arc::clone(&shown),
        released: None,
    };
    let serving = serve(&stage, lie);
    let mut parties = start_all(&stage);
    wait_until("the release of sum 0", || {
        let key =
            study_of(&stage, 0).and_then(|own| fs::read_to_string(own.join("party.key")).ok());
        let is_erased = |line: &JournalLine| matches!(line, JournalLine::Uploaded { sum: 0, message } if message.is_empty());
        count(&lines_so_far(&stage, 0), is_erased) == 1
            && key.is_some_and(|key| key.contains("step 0 erased"))
    });
    std::mem::replace(&mut parties[0], Running::none()).kill();
    // Its whole folder with the ledger in it, and what is remembered beside its table.
    let (own, aside) = (stage.party(0), stage.folder.join("aside"));
    let mark = stage.folder.join(".sprifed/p0.csv.json");
    let marked = fs::read(&mark).unwrap();
    copy(&own, &aside);
    let answer = |what| {
        *shown.lock().unwrap() = what;
        let n_before = serving.uploads(0).len();
        let party = Running::start(&mut stage.join(0), &log(&stage, 0));
        let mut new = Vec::new();
        wait_until("an answer to sum 1", || {
            new = serving.uploads(0).split_off(n_before);
            !new.is_empty()
        });
        assert_eq!(new[0].0, 1);
        (party, new.swap_remove(0).1)
    };
    let put_back = |party: Running| {
        party.kill();
        fs::remove_dir_all(&own).unwrap();
        copy(&aside, &own);
        fs::write(&mark, &marked).unwrap();
    };
    let (party, first) = answer(Shown::Same);
    put_back(party);
    let (party, other) = answer(Shown::Other);
    put_back(party);
    let (party, again) = answer(Shown::Truth);
    parties[0] = party;
    assert_eq!(first, again, "the same transcript, other bytes");
    assert_ne!(first.context, other.context);

    let shape = agreed.study().unwrap().sum(1).unwrap();
    let entries = |packed: &[u8]| unpack(packed, shape.bits(), shape.coordinates());
    let modulus = 1_u64 << shape.bits();
    let pairs = entries(&first.packed)
        .into_iter()
        .zip(entries(&other.packed));
    let distances = pairs.map(|(one, other)| {
        let distance = one.wrapping_sub(other) % modulus;
        distance.min(modulus - distance)
    });
    // Two vectors of one table under the same masks are nearer than that in every entry. Of other masks an entry is
    // so near once in 32 times: that half of them are has a chance below 2^-40.
    let n_large = distances
        .filter(|distance| *distance > modulus / 64)
        .count();
    let required = shape.coordinates() as usize / 2;
    assert!(
        n_large >= required,
        "{n_large} of {} entries are masked",
        shape.coordinates()
    );
    all_end(&stage, parties, &[0; 3]);
    serving.finish();
}
