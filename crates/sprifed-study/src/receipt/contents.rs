//! Whose records the released sums hold.

use schemars::JsonSchema;
use serde::Serialize;

use super::Receipt;

/// Released sums in a row that hold the records of the same parties.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SumContents {
    /// The first of these sums, counted from one in the order of the plan.
    pub first_sum: u32,
    /// The last of them.
    pub last_sum: u32,
    /// The names of the parties whose records they hold.
    pub parties: Vec<String>,
    /// The names of the parties whose records they do not hold.
    pub without: Vec<String>,
    /// The names of those of them whose numbers left the norm of a sum, so that the trustees left them out.
    pub outside: Vec<String>,
}

impl Receipt {
    /// Returns whose records each released sum holds, in the order of the plan.
    ///
    /// A sum that was abandoned was not opened. It holds no records and is not in the list.
    pub(super) fn sum_contents(&self) -> Vec<SumContents> {
        let mut contents: Vec<SumContents> = Vec::new();
        for record in &self.sums {
            let Some(survivors) = record.outcome.survivors() else {
                continue;
            };
            let sum = record.step.saturating_add(1);
            let (mut parties, mut without) = (Vec::new(), Vec::new());
            for (id, party) in (0..).zip(&self.agreement.parties) {
                let list = if survivors.contains(&id) {
                    &mut parties
                } else {
                    &mut without
                };
                list.push(party.name.clone());
            }
            let named = record.outcome.outside().iter();
            let named = named.filter_map(|id| self.agreement.parties.get(*id as usize));
            let outside: Vec<String> = named.map(|party| party.name.clone()).collect();
            match contents.last_mut() {
                Some(last) if last.parties == parties && last.outside == outside => {
                    last.last_sum = sum;
                }
                _ => contents.push(SumContents {
                    first_sum: sum,
                    last_sum: sum,
                    parties,
                    without,
                    outside,
                }),
            }
        }
        contents
    }

    /// Returns how many sums were abandoned before they were opened.
    pub(super) fn n_abandoned(&self) -> usize {
        let sums = self.sums.iter();
        let released = sums.filter(|record| record.outcome.survivors().is_some());
        self.sums.len() - released.count()
    }
}

impl core::fmt::Display for SumContents {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let n_parties = self.parties.len() + self.without.len();
        if self.without.is_empty() {
            write!(formatter, "all {n_parties} parties in ")?;
        } else {
            let (n_present, missing) = (self.parties.len(), self.without.join(", "));
            write!(
                formatter,
                "{n_present} of {n_parties} parties (without {missing}) in "
            )?;
        }
        let (first, last) = (self.first_sum, self.last_sum);
        if first == last {
            write!(formatter, "sum {first}")?;
        } else {
            write!(formatter, "sums {first}-{last}")?;
        }
        if !self.outside.is_empty() {
            let named = self.outside.join(", ");
            write!(formatter, "; left out because of their numbers: {named}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::coordinator::tests::finished;
    use crate::receipt::{Outcome, SumRecord};

    fn opened(step: u32, survivors: &[u32]) -> SumRecord {
        SumRecord {
            sum: 2 * step,
            step,
            purpose: String::new(),
            outcome: Outcome::Unmasked {
                survivors: survivors.to_vec(),
                noise: Vec::new(),
            },
        }
    }

    #[test]
    fn sums_with_the_same_parties_are_reported_together() {
        let mut receipt = finished().0.receipt;
        let given_up = SumRecord {
            outcome: Outcome::Abandoned {
                reason: "too few".to_owned(),
            },
            ..opened(3, &[])
        };
        let all = [0, 1, 2, 3, 4];
        receipt.sums = vec![
            opened(0, &all),
            opened(1, &all),
            opened(2, &[0, 1, 2, 4]),
            given_up,
            opened(3, &[0, 1, 2, 4]),
            opened(4, &[0, 1, 3, 4]),
            opened(5, &all),
        ];
        let contents = receipt.sum_contents();
        let texts: Vec<String> = contents.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "all 5 parties in sums 1-2",
                "4 of 5 parties (without party 3) in sums 3-4",
                "4 of 5 parties (without party 2) in sum 5",
                "all 5 parties in sum 6",
            ]
        );
        let names = ["party 0", "party 1", "party 2", "party 4"];
        assert_eq!(contents[1].parties, names);
        assert_eq!(receipt.n_abandoned(), 1);
    }
}
