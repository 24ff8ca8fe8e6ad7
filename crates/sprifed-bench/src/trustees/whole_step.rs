//! A whole choice with all roles in one process: uploads are made, signed, checked and opened, three trustees compute,
//! and sign the index. And what of it is not a trustee's work.

use std::time::Duration;

use sprifed_noise::{DrawnShare, NoiseGenerator};
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, Ledger, PrivacyUnit, RecordPart, Relation, SelectionLaw,
    SelectionPurchase, Trustee,
};
use sprifed_secure_sum::ClientId;
use sprifed_trustees::{DealtNoise, Embedded, EmbeddedFailed, Step};

use super::setting::{Setting, refuse};
use crate::cpu_clock;
use crate::error::Error;

/// CPU time of all clients and the three trustees together. Keys and noise are made before the clock starts.
pub(super) fn whole_step(setting: &Setting, step: Step) -> Result<Duration, Error> {
    let mut parties = Embedded::new([7; 32], [8; 32], setting.clients).map_err(refuse)?;
    let [first, second, third] = Trustee::ALL.map(|trustee| noise(setting, trustee));
    let noise = [first?, second?, third?];
    let numbers = numbers(setting);
    let contributions = (0..setting.clients)
        .map(|client| Ok::<_, EmbeddedFailed>((ClientId(client), numbers.clone())));
    let mut total = Duration::ZERO;
    let output = cpu_clock::clocked(&mut total, || parties.run_on(step, noise, contributions));
    output.map_err(refuse)?;
    Ok(total)
}

/// CPU time of what all clients do in it: uploads are made, sealed and signed.
pub(super) fn uploads(setting: &Setting, step: &Step) -> Result<Duration, Error> {
    let parties = Embedded::new([7; 32], [8; 32], setting.clients).map_err(refuse)?;
    let (attempt, numbers) = (parties.attempt(0), numbers(setting));
    let mut total = Duration::ZERO;
    for client in (0..setting.clients).map(ClientId) {
        let upload = || parties.upload(attempt, step, client, &numbers);
        let upload = cpu_clock::clocked(&mut total, || upload().map(|upload| upload.encode()));
        drop(upload.map_err(refuse)?);
    }
    Ok(total)
}

/// CPU time of drawing one trustee's noise, tables included.
pub(super) fn drawing(setting: &Setting) -> Result<Duration, Error> {
    let mut total = Duration::ZERO;
    drop(cpu_clock::clocked(&mut total, || {
        noise(setting, Trustee::First)
    })?);
    Ok(total)
}

/// Numbers of any content that fit: time does not depend on it.
fn numbers(setting: &Setting) -> Vec<i64> {
    let bound = (1i64 << (setting.client_bits - 1)) - 1;
    (0..i64::from(setting.candidates))
        .map(|place| (place * 31) % (2 * bound + 1) - bound)
        .collect()
}

/// A trustee's share of the noise.
fn noise(setting: &Setting, trustee: Trustee) -> Result<DealtNoise, Error> {
    let budget = ApproxDp::new(Epsilon::try_from(1e3)?, Delta::try_from(1e-6)?);
    let mut ledger = Ledger::open(budget, Relation::ZeroOut, PrivacyUnit::Record);
    let purchase = SelectionPurchase {
        candidates: setting.candidates,
        score_bound: 1,
        noise_rate: (1, setting.inverse_rate),
        law: SelectionLaw::Euler,
        unit: PrivacyUnit::Record,
        part: RecordPart::All,
    };
    let permit = ledger.spend("a benchmark", purchase).map_err(refuse)?;
    let mut generator = NoiseGenerator::simulated(1);
    let share = DrawnShare::for_choice(permit, trustee, &mut generator);
    Ok(DealtNoise::from(share.map_err(refuse)?))
}
