//! What a coordinator was told and when it closed a phase, so that a new process can go on.
//!
//! Each input comes after its length. A sum that has ended is a checkpoint, in place of its inputs.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sprifed_party::{append_private, read_if_there};
use sprifed_secure_sum::ClientId;
use sprifed_study::{Digest, StudyCoordinator};

use super::failure::Failure;

/// One input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Input {
    /// The first line: which study.
    Study(Digest),
    /// A message was accepted.
    Received {
        epoch: u32,
        party: u32,
        bytes: Vec<u8>,
    },
    /// A phase was closed.
    Closed { epoch: u32 },
    /// A sum has ended: its inputs are not needed any more.
    Checkpoint { epoch: u32, bytes: Vec<u8> },
}

/// The file, open to be added to.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: std::path::PathBuf,
}

impl Journal {
    /// Opens or begins the journal and brings `study` where it was.
    pub(super) fn open(path: &Path, study: &mut StudyCoordinator) -> Result<Self, Failure> {
        let mut journal = Self {
            file: append_private(path)?,
            path: path.to_owned(),
        };
        if journal.file.try_lock().is_err() {
            return Err(journal.unusable("another coordinator has it"));
        }
        let stored = read_if_there(path)?.unwrap_or_default();
        let digest = *study.agreed().digest();
        let inputs = journal.parse(&stored)?;
        match inputs.split_first() {
            None => journal.add(&Input::Study(digest))?,
            Some((Input::Study(found), inputs)) if *found == digest => rebuild(study, inputs)?,
            Some(_) => return Err(journal.unusable("it is of another study")),
        }
        Ok(journal)
    }

    /// Stores an input; when this returns, a power cut cannot undo it.
    pub(super) fn add(&mut self, input: &Input) -> Result<(), Failure> {
        // Numbers and bytes: there is nothing that could not be written.
        let input = postcard::to_allocvec(input).unwrap_or_default();
        let length = (input.len() as u64).to_le_bytes();
        self.file
            .write_all(&[&length[..], &input].concat())
            .and_then(|()| self.file.sync_data())
            .map_err(Failure::file("written", &self.path))
    }

    /// Whole inputs; a last one that is cut short was never acted upon and is taken away.
    fn parse(&self, stored: &[u8]) -> Result<Vec<Input>, Failure> {
        let (mut inputs, mut rest) = (Vec::new(), stored);
        while let Some((length, after)) = rest.split_first_chunk() {
            let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
            let Some((input, after)) = after.split_at_checked(length) else {
                break;
            };
            let input = postcard::from_bytes(input);
            inputs.push(input.map_err(|error| self.unusable(&error.to_string()))?);
            rest = after;
        }
        if !rest.is_empty() {
            let whole = (stored.len() - rest.len()) as u64;
            let cut = self.file.set_len(whole);
            cut.map_err(Failure::file("mended", &self.path))?;
        }
        Ok(inputs)
    }

    fn unusable(&self, found: &str) -> Failure {
        let what = self.path.display().to_string();
        Failure::unusable(what, found, "the journal of this study")
    }
}

fn rebuild(study: &mut StudyCoordinator, inputs: &[Input]) -> Result<(), Failure> {
    let checkpoints: std::collections::BTreeSet<u32> = inputs
        .iter()
        .filter_map(|input| match input {
            Input::Checkpoint { epoch, .. } => Some(*epoch),
            _ => None,
        })
        .collect();
    for input in inputs {
        match input {
            Input::Study(_) => {}
            Input::Received {
                epoch,
                party,
                bytes,
            } => {
                if !checkpoints.contains(epoch) {
                    study.receive(ClientId(*party), bytes)?;
                }
            }
            Input::Closed { epoch } => {
                if !checkpoints.contains(epoch) {
                    study.close_phase();
                }
            }
            Input::Checkpoint { epoch, bytes } => study.restore(*epoch, bytes)?,
        }
        // Parties that come back are told again what they must know.
        while study.poll().is_some() {}
    }
    Ok(())
}
