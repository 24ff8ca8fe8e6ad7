//! A study that adds numbers: clients join, then for each sum they say a number and confirm the total.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;

use sprifed_net::{
    Budget, ClientMachine, CoordinatorEffect, CoordinatorMachine, FeatureFound, PartyId,
    PartyState, PartyStatus, PhaseInfo, Progress, Refused, StatusView,
};
use sprifed_party::{Finished, Outgoing, PartyError, write_artefacts};

use crate::client_journal::Journal;

/// Sums that each run makes.
pub(crate) const N_SUMS: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Joining,
    Numbers(u32),
    Confirming(u32),
    Over,
}

/// The coordinator of the toy study.
#[derive(Debug)]
pub(crate) struct Adding {
    invited: BTreeSet<PartyId>,
    survivors: BTreeSet<PartyId>,
    step: Step,
    numbers: BTreeMap<PartyId, i64>,
    answered: BTreeSet<PartyId>,
    totals: Vec<String>,
    refusals: u64,
    effects: VecDeque<CoordinatorEffect>,
}

impl Adding {
    pub(crate) fn new(n_clients: u32) -> Self {
        Self {
            invited: (0..n_clients).map(PartyId).collect(),
            survivors: BTreeSet::new(),
            step: Step::Joining,
            numbers: BTreeMap::new(),
            answered: BTreeSet::new(),
            totals: Vec::new(),
            refusals: 0,
            effects: VecDeque::new(),
        }
    }

    /// What a client that knows nothing needs in this step.
    fn notice(&self) -> String {
        match self.step {
            Step::Joining => "join".to_owned(),
            Step::Numbers(sum) => format!("number {sum}"),
            Step::Confirming(sum) => format!("confirm {sum}"),
            Step::Over => format!("over {}", self.totals.join(";")),
        }
    }

    fn tell_all(&mut self) {
        let notice = self.notice();
        let all: Vec<PartyId> = match self.step {
            Step::Over => self.invited.iter().copied().collect(),
            _ => self.survivors.iter().copied().collect(),
        };
        self.effects.extend(
            all.into_iter()
                .map(|party| CoordinatorEffect::Send(party, notice.clone().into_bytes())),
        );
    }

    fn next_sum(&mut self, next: u32) {
        self.answered.clear();
        self.numbers.clear();
        self.step = if next < N_SUMS {
            Step::Numbers(next)
        } else {
            Step::Over
        };
        self.tell_all();
        if self.step == Step::Over {
            let survivors: Vec<String> = self.survivors.iter().map(PartyId::to_string).collect();
            let artefacts = vec![
                ("totals.txt".to_owned(), self.totals.join("\n").into_bytes()),
                ("survivors.txt".to_owned(), survivors.join(" ").into_bytes()),
            ];
            self.effects
                .push_back(CoordinatorEffect::Finished { artefacts });
        }
    }

    fn take(&mut self, from: PartyId, text: &str) -> Result<(), String> {
        if self.answered.contains(&from) {
            return Err("a second answer".to_owned());
        }
        match self.step {
            Step::Joining if text == "joined" && self.invited.contains(&from) => {}
            Step::Numbers(sum) if self.survivors.contains(&from) => {
                // Anything after the number is padding.
                let mut words = text.split(' ');
                let asked = words.next() == Some(&format!("number{sum}"));
                let number = words.next().and_then(|word| word.parse().ok());
                let number = number.filter(|_| asked).ok_or("no number for this sum")?;
                self.numbers.insert(from, number);
            }
            Step::Confirming(sum)
                if self.survivors.contains(&from) && text == format!("confirmed{sum}") => {}
            step => return Err(format!("not expected in {step:?}")),
        }
        self.answered.insert(from);
        Ok(())
    }
}

impl CoordinatorMachine for Adding {
    fn receive(&mut self, from: PartyId, message: &[u8]) -> Result<(), Refused> {
        let text = std::str::from_utf8(message).map_err(|_| Refused::because("not a text"))?;
        self.take(from, text).map_err(|reason| {
            self.refusals += 1;
            Refused::because(reason)
        })
    }

    fn returned(&mut self, party: PartyId) {
        let notice = self.notice().into_bytes();
        self.effects
            .push_back(CoordinatorEffect::Send(party, notice));
    }

    fn waits_for(&self) -> Vec<PartyId> {
        let awaited = match self.step {
            Step::Joining => &self.invited,
            Step::Over => return Vec::new(),
            _ => &self.survivors,
        };
        awaited.difference(&self.answered).copied().collect()
    }

    fn phase(&self) -> PhaseInfo {
        let (number, epoch) = match self.step {
            Step::Joining => (0, 0),
            Step::Numbers(sum) => (1 + 2 * u64::from(sum), sum + 1),
            Step::Confirming(sum) => (2 + 2 * u64::from(sum), sum + 1),
            Step::Over => (1 + 2 * u64::from(N_SUMS), N_SUMS + 1),
        };
        PhaseInfo {
            number,
            name: format!("{:?}", self.step),
            epoch,
            is_end: self.step == Step::Over,
        }
    }

    fn close_phase(&mut self) {
        match self.step {
            Step::Joining => {
                self.survivors = std::mem::take(&mut self.answered);
                self.next_sum(0);
            }
            Step::Numbers(sum) => {
                self.survivors = std::mem::take(&mut self.answered);
                self.step = Step::Confirming(sum);
                self.tell_all();
            }
            Step::Confirming(sum) => {
                self.survivors = std::mem::take(&mut self.answered);
                let of = |(party, number): (&PartyId, &i64)| format!("{party}={number}");
                let numbers: Vec<String> = self.numbers.iter().map(of).collect();
                let total: i64 = self.numbers.values().sum();
                self.totals.push(format!("{total} {}", numbers.join(" ")));
                let survivors: Vec<String> =
                    self.survivors.iter().map(PartyId::to_string).collect();
                let bytes = format!("{}\n{}", self.totals[sum as usize], survivors.join(" "));
                self.effects.push_back(CoordinatorEffect::Checkpoint {
                    epoch: sum + 1,
                    bytes: bytes.into_bytes(),
                });
                self.next_sum(sum + 1);
            }
            Step::Over => panic!("closed after the end"),
        }
    }

    fn cancel(&mut self) {
        panic!("no test of this machine cancels; those of a study do");
    }

    fn poll(&mut self) -> Option<CoordinatorEffect> {
        self.effects.pop_front()
    }

    fn restore(&mut self, epoch: u32, checkpoint: &[u8]) -> Result<(), Refused> {
        let text = std::str::from_utf8(checkpoint).map_err(|_| Refused::because("not a text"))?;
        let (total, survivors) = text.split_once('\n').ok_or(Refused::because("one line"))?;
        self.totals.push(total.to_owned());
        self.survivors = survivors
            .split_whitespace()
            .map(|word| PartyId(word.parse().unwrap()))
            .collect();
        self.next_sum(epoch);
        Ok(())
    }

    fn status(&self) -> StatusView {
        let missing = self.waits_for();
        let parties = self.invited.iter().map(|party| PartyStatus {
            name: format!("client-{party}"),
            state: match self.step {
                Step::Joining if missing.contains(party) => PartyState::Invited,
                Step::Over if self.survivors.contains(party) => PartyState::Finished,
                _ if missing.contains(party) => PartyState::Awaited,
                Step::Joining => PartyState::Answered,
                _ if self.survivors.contains(party) => PartyState::Answered,
                // A study waits in every sum for parties that missed another; the page knows better.
                _ => PartyState::Awaited,
            },
        });
        let done = u32::try_from(self.totals.len()).unwrap();
        StatusView {
            title: "Adding <numbers> & more".to_owned(),
            guarantee: sprifed_privacy::GuaranteeTable::try_from(
                "Privacy   none: numbers are added in the clear".to_owned(),
            )
            .unwrap(),
            phase: self.phase().name,
            progress: Progress {
                done,
                planned: N_SUMS,
            },
            budget: Budget {
                epsilon_spent: 0.5 * f64::from(done),
                epsilon_planned: 0.5 * f64::from(N_SUMS),
                delta: 1e-6,
            },
            parties: parties.collect(),
            trustees: Vec::new(),
            features: (0..done)
                .map(|sum| FeatureFound {
                    name: format!("feature-{sum}"),
                    coefficient: if sum % 2 == 0 { 1.25 } else { -0.75 },
                    interval: Some((-1.5, 1.75)),
                    p_value: Some(0.02),
                    privacy_share: Some(0.4),
                    is_always: false,
                    half_range: 2.0,
                })
                .collect(),
            alarm: None,
            intercept: (self.step == Step::Over).then_some(0.125),
            intercept_interval: None,
            notes: Vec::new(),
            report: if self.step == Step::Over {
                self.totals.clone()
            } else {
                Vec::new()
            },
            refusals: self.refusals,
        }
    }
}

/// A client of the toy study.
///
/// Asked again, it says again what it wrote down. With each restart its number grows by a thousand, so that an answer that
/// was not kept would be said differently.
#[derive(Debug)]
pub(crate) struct Saying {
    number: i64,
    padding: usize,
    journal: Box<dyn Journal>,
    folder: PathBuf,
    said: BTreeMap<String, String>,
    wishes: VecDeque<Wish>,
}

/// What a client wants done.
#[derive(Debug)]
enum Wish {
    Keep(String),
    Send(Vec<u8>),
    End(String),
}

impl Saying {
    pub(crate) fn new(
        number: i64,
        padding: usize,
        journal: Box<dyn Journal>,
        folder: PathBuf,
    ) -> Self {
        Self {
            number,
            padding,
            journal,
            folder,
            said: BTreeMap::new(),
            wishes: VecDeque::new(),
        }
    }

    fn deliver(&self, totals: &str) -> Result<Finished, PartyError> {
        let artefacts = [("totals.txt".to_owned(), totals.as_bytes().to_vec())];
        Ok(Finished {
            success: true,
            files: write_artefacts(&self.folder, &artefacts)?,
        })
    }
}

impl ClientMachine for Saying {
    fn restart(&mut self) -> Result<Option<Finished>, PartyError> {
        if let Some(totals) = self.journal.end()? {
            return self.deliver(&totals).map(Some);
        }
        self.number += 1000;
        self.wishes.clear();
        let said = self.journal.entries()?.into_iter().map(|entry| {
            let (asked, answer) = entry.split_once('|').unwrap();
            (asked.to_owned(), answer.to_owned())
        });
        self.said = said.collect();
        Ok(None)
    }

    fn receive(&mut self, notice: &[u8]) -> Result<(), Refused> {
        let text = std::str::from_utf8(notice).map_err(|_| Refused::because("not a text"))?;
        if let Some(totals) = text.strip_prefix("over ") {
            self.wishes.push_back(Wish::End(totals.to_owned()));
            return Ok(());
        }
        if !self.said.contains_key(text) {
            let answer = match text.split_once(' ') {
                None => "joined".to_owned(),
                Some(("number", sum)) => {
                    let padding = "x".repeat(self.padding);
                    format!("number{sum} {} {padding}", self.number)
                }
                Some(("confirm", sum)) => format!("confirmed{sum}"),
                Some(_) => return Err(Refused::because("not understood")),
            };
            let entry = format!("{text}|{answer}");
            self.wishes.push_back(Wish::Keep(entry));
            self.said.insert(text.to_owned(), answer);
        }
        let answer = self.said[text].clone().into_bytes();
        self.wishes.push_back(Wish::Send(answer));
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Outgoing>, PartyError> {
        while let Some(wish) = self.wishes.pop_front() {
            match wish {
                Wish::Keep(entry) => self.journal.append(&entry)?,
                Wish::Send(message) => return Ok(Some(Outgoing::Send(message))),
                Wish::End(totals) => {
                    self.journal.finish(&totals)?;
                    return self.deliver(&totals).map(Outgoing::Ended).map(Some);
                }
            }
        }
        Ok(None)
    }
}
