use std::path::Path;
use std::time::Duration;

use crate::process::is_slow_run;

use super::stage::{Kind, Running, Stage, all_succeed, output_of, pause, wait_until};

/// How many events the coordinator has stored.
fn events(state: &Path) -> usize {
    std::fs::metadata(state.with_extension("sqlite-wal"))
        .map_or(0, |file| usize::try_from(file.len()).unwrap_or(usize::MAX))
}

/// Runs a study in which `disturb` may replace processes; the fit must be that of one process.
fn with_kills(name: &str, kill_coordinator_every: usize, kill_party_every: usize) {
    let kind = Kind {
        records: 60,
        ..Kind::default()
    };
    let stage = Stage::new(name, kind);
    let log = stage.folder.join("log");
    let mut coordinator = Running::start(&mut stage.coordinate(), &log);
    let mut parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    let state = stage.study().join("state.sqlite");
    let (mut last, mut changes) = (0, 0);
    let (mut kills, mut victim) = (0, 0);
    wait_until("the study's end", || {
        let found = events(&state);
        if found != last {
            last = found;
            changes += 1;
            if kill_coordinator_every > 0 && changes % kill_coordinator_every == 0 && kills < 6 {
                kills += 1;
                std::mem::replace(&mut coordinator, Running::none()).kill();
                coordinator = Running::start(&mut stage.coordinate(), &log);
            }
            if kill_party_every > 0 && changes % kill_party_every == 0 && kills < 6 {
                kills += 1;
                victim = (victim + 1) % 3;
                let party = u32::try_from(victim).unwrap();
                std::mem::replace(&mut parties[victim], Running::none()).kill();
                parties[victim] = Running::start(&mut stage.join(party), &log);
            }
        }
        parties.iter_mut().all(Running::is_over)
    });
    assert!(kills > 0, "no process was killed");
    all_succeed(parties, coordinator, &log);
    stage.check_result();
}

#[test]
fn a_coordinator_that_is_killed_again_and_again_loses_nothing() {
    with_kills("kill-coordinator", 5, 0);
}

#[test]
fn parties_that_are_killed_again_and_again_lose_nothing() {
    with_kills("kill-parties", 0, 4);
}

/// Who is killed.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Coordinator,
    Party(usize),
    All,
}

/// Kills at a moment counted from the first start; then all processes are started again and finishes.
fn with_a_kill_after(moment: Duration, victim: Victim) {
    let kind = Kind {
        records: 60,
        ..Kind::default()
    };
    let name = format!("kill-{}-{victim:?}", moment.as_millis()).replace(['(', ')'], "");
    let stage = Stage::new(&name, kind);
    let log = stage.folder.join("log");
    let coordinate = || Running::start(&mut stage.coordinate(), &log);
    let join = |party: usize| {
        let party = u32::try_from(party).unwrap();
        Running::start(&mut stage.join(party), &log)
    };
    let mut coordinator = coordinate();
    let mut parties: Vec<Running> = (0..3).map(join).collect();
    pause(moment);
    if matches!(victim, Victim::Coordinator | Victim::All) {
        coordinator.kill();
        coordinator = coordinate();
    }
    for (place, party) in parties.iter_mut().enumerate() {
        let is_meant = match victim {
            Victim::Coordinator => false,
            Victim::Party(meant) => meant == place,
            Victim::All => true,
        };
        if is_meant {
            std::mem::replace(party, Running::none()).kill();
            *party = join(place);
        }
    }
    all_succeed(parties, coordinator, &log);
    stage.check_result();
}

#[test]
fn a_power_cut_for_all_loses_nothing() {
    with_a_kill_after(Duration::from_millis(300), Victim::All);
}

/// Moments 4 ms apart, from before the first message to after the last.
#[test]
fn a_kill_at_any_moment_loses_nothing() {
    if !is_slow_run() {
        return;
    }
    for step in 0..200 {
        let victim = match step % 4 {
            0 => Victim::Coordinator,
            1 => Victim::All,
            _ => Victim::Party(step % 3),
        };
        let moment = u64::try_from(step).unwrap() * 4;
        with_a_kill_after(Duration::from_millis(moment), victim);
    }
}

#[test]
fn a_party_that_never_comes_is_a_dropout() {
    let kind = Kind {
        parties: 4,
        records: 60,
        quorum: 3,
        patience: 6,
        ..Kind::default()
    };
    let stage = Stage::new("absent", kind);
    let log = stage.folder.join("log");
    let mut command = stage.coordinate();
    command.args(["--wait-for-parties", "8"]);
    let coordinator = Running::start(&mut command, &log);
    let parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    all_succeed(parties, coordinator, &log);
    let receipt = stage.receipt();
    let survivors = receipt["receipt"]["sums"][0]["outcome"]["unmasked"]["survivors"].clone();
    assert_eq!(survivors, serde_json::json!([0, 1, 2]));
}

#[test]
fn a_study_has_one_coordinator_and_a_party_one_process() {
    let stage = Stage::new("twice", Kind::default());
    let log = stage.folder.join("log");
    let first = Running::start(&mut stage.coordinate(), &log);
    let state = stage.study().join("state.sqlite");
    wait_until("the first coordinator's state", || {
        state.exists() && events(&state) > 0
    });
    let second = output_of(&mut stage.coordinate());
    assert_eq!(
        second.status.code(),
        Some(3),
        "{}",
        String::from_utf8_lossy(&second.stderr)
    );
    let party = Running::start(&mut stage.join(0), &log);
    let ledger = stage.party(0).join("ledger.sqlite.lock");
    wait_until("the first process of the party", || ledger.exists());
    let mut refused = None;
    wait_until("the second process's end", || {
        let ended = output_of(&mut stage.join(0));
        refused = Some(ended.status.code());
        true
    });
    assert_eq!(refused, Some(Some(3)));
    drop((first, party));
}
