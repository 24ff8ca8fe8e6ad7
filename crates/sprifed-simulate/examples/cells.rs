//! Scratch.
#![allow(missing_docs, clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used)]
use sprifed_simulate::*;
use sprifed_privacy::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let procedure = match args[1].as_str() { "grad" => Procedure::Grad, "sieve" => Procedure::Sieve, _ => Procedure::Argmax };
    let (n, p, s, eps): (usize, usize, usize, f64) = (args[2].parse().unwrap(), args[3].parse().unwrap(), args[4].parse().unwrap(), args[5].parse().unwrap());
    let trials: u64 = args[6].parse().unwrap();
    let corr = match args.get(7).map(String::as_str) { Some("ar.9") => Correlation::Autoregressive(0.9), Some("ar.5") => Correlation::Autoregressive(0.5), Some("eq.3") => Correlation::Equal(0.3), _ => Correlation::None };
    let un = match args.get(7).map(String::as_str) { Some("r2") => Unexplained::PopulationR2(0.5), _ => Unexplained::ErrorStdDev(0.1) };
    let world = WorldRequest { records: n, test_records: 0, features: p, sparsity: s, correlation: corr, unexplained: un, reading: Reading::Clean };
    let budget = ApproxDp::new(Epsilon::try_from(eps).unwrap(), Delta::try_from(1e-4).unwrap());
    let trial = Trial { world, procedure, budget, relation: Relation::ZeroOut, response_bound: default_response_bound(s) };
    let plan = trial.plan().unwrap();
    let spent = plan.spending().unwrap().to_approx_dp(budget.delta()).unwrap();
    println!("plan eps {}", spent.epsilon());
    let t0 = std::time::Instant::now();
    let mut shares = vec![]; let mut r2 = vec![];
    for k in 0..trials { let o = trial.run(&plan, 1000 + k).unwrap(); shares.push(o.recovered as f64 / s as f64); r2.push(1.0 - o.test_mse / o.null_mse); }
    let mean = shares.iter().sum::<f64>() / trials as f64;
    let var = shares.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (trials as f64 - 1.0);
    r2.sort_by(f64::total_cmp);
    println!("{} n={n} p={p} s={s} eps={eps} {:?}: share {mean:.3} ± {:.3}  median R2 {:.3}  {:.2}s/trial", args[1], args.get(7), (var / trials as f64).sqrt(), r2[r2.len() / 2], t0.elapsed().as_secs_f64() / trials as f64);
}
