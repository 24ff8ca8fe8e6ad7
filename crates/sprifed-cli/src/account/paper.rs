//! `account paper`: what the paper claims of its settings, beside what they deliver.

use sprifed_paper::{ClaimsAnswer, Priced};
use sprifed_privacy::{Epsilon, shown_to};
use sprifed_report::table;

use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn answer(output: &Output) -> Result<(), Failure> {
    output.answer(&ClaimsAnswer::recomputed()?, to_text);
    Ok(())
}

fn to_text(comparison: &ClaimsAnswer) -> String {
    let heading = [
        "setting",
        "delta",
        "claimed eps",
        "eps of claimed mu",
        "theorem",
        "bounded noise: zero-out / replace-one",
        "delivered: zero-out / replace-one",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for row in &comparison.rows {
        let epsilon = |priced: Option<Priced>| priced.map_or("-".into(), |p| two(p.epsilon));
        rows.push(vec![
            row.place.to_owned(),
            row.delta.shown(),
            row.claimed_epsilon.to_string(),
            row.epsilon_of_claimed_mu.map_or("-".into(), two),
            epsilon(row.theorem),
            format!(
                "{} / {}",
                epsilon(row.needed_zero_out),
                epsilon(row.needed_replace_one)
            ),
            format!(
                "{} / {}",
                epsilon(row.delivered_zero_out),
                epsilon(row.delivered_replace_one)
            ),
        ]);
    }
    format!(
        "{}\n\n{}\nclaimed: what the paper prints. theorem: its formula, recomputed. bounded noise: the noise\n\
         scaled by the public bounds and the last column skipped. delivered: SPriFed-OMP as the paper ran it,\n\
         with noise that ignores the bounds 1.392 (features) and 1.05 (response) left by its rescaling.\n",
        comparison.label,
        table(&rows),
    )
}

fn two(epsilon: Epsilon) -> String {
    shown_to(epsilon.get(), 2)
}
