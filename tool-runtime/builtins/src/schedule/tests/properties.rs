//! Any sequence of creations, deletions, steps of hosts and their deaths: each due time is run, skipped or missed once.

use super::*;
use crate::schedule::job::{Run, RunState};
use crate::schedule::timetable::Timetable;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// One change.
#[derive(Clone, Debug)]
enum Change {
    Create(u8, bool),
    Delete(u8),
    /// The clock advances by seconds, and a host takes a step.
    Tick(u8, u16),
    /// A host is gone with its runs, as after kill -9.
    Die(u8),
    /// The runs of all hosts end.
    End,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        2 => (0..3u8, any::<bool>()).prop_map(|(name, once)| Change::Create(name, once)),
        1 => (0..3u8).prop_map(Change::Delete),
        6 => (0..2u8, 0..400u16).prop_map(|(host, seconds)| Change::Tick(host, seconds)),
        1 => (0..2u8).prop_map(Change::Die),
        3 => Just(Change::End),
    ]
}

const SCHEDULES: [&str; 3] = ["* * * * *", "*/3 * * * *", "1,2,7 * * * *"];

/// A tool that waits until the test lets it end.
fn gated(gate: &Arc<tokio::sync::Semaphore>) -> Tool {
    let gate = Arc::clone(gate);
    Tool::builder("gated", "Wait.").handler(move || {
        let gate = Arc::clone(&gate);
        async move {
            let _permit = gate.acquire().await;
            "ended"
        }
    })
}

struct World {
    setup: Setup,
    gate: Arc<tokio::sync::Semaphore>,
    hosts: BTreeMap<u8, ScheduleHost>,
    /// The jobs, with the time of their creation.
    jobs: BTreeMap<u8, (i64, Timestamp)>,
}

impl World {
    fn new() -> Self {
        let gate = Arc::new(tokio::sync::Semaphore::new(0));
        let tool = gated(&gate);
        let setup = Setup::with(|builder| builder, |pool| pool.add(tool));
        Self { setup, gate, hosts: BTreeMap::new(), jobs: BTreeMap::new() }
    }

    async fn apply(&mut self, change: Change) {
        match change {
            Change::Create(name, once) => {
                let policy = if once { "run_once" } else { "skip" };
                let job = json!({ "name": format!("job-{name}"), "schedule": SCHEDULES[usize::from(name)],
                    "tool": "gated", "on_missed": policy });
                let created = call(&self.setup.pool, "CronCreate", job).await;
                assert_eq!(created.is_error(), self.jobs.contains_key(&name));
                if let Some(job) = created.observation().structured() {
                    let number = job["id"].as_str().unwrap()[5..].parse().unwrap();
                    self.jobs.insert(name, (number, self.setup.schedule.now()));
                }
            }
            Change::Delete(name) => {
                if let Some((number, _)) = self.jobs.remove(&name) {
                    value_of_delete(&self.setup.pool, number).await;
                }
            }
            Change::Tick(host, seconds) => {
                self.setup.time.advance(i64::from(seconds));
                let setup = &self.setup;
                let host = self.hosts.entry(host).or_insert_with(|| setup.host().0);
                host.tick().await.unwrap();
                // The other one waits.
                if host.lock.is_some() {
                    self.check();
                }
            }
            // Dropping aborts the tasks, which record nothing.
            Change::Die(host) => drop(self.hosts.remove(&host)),
            Change::End => {
                self.gate.add_permits(100);
                for host in self.hosts.values_mut() {
                    host.idle().await;
                }
                self.gate.forget_permits(usize::MAX);
            }
        }
    }

    /// Each time between the creation of a job and now belongs to one run.
    fn check(&self) {
        let now = self.setup.schedule.now();
        for (name, (number, created)) in &self.jobs {
            let timetable = Timetable::new(SCHEDULES[usize::from(*name)], "UTC").unwrap();
            let read = |connection: &_| Run::last(connection, *number, 1000);
            let runs = self.setup.schedule.0.store.read(read).unwrap();
            let mut accounted = Vec::new();
            for run in runs.iter().rev() {
                let before = run.due - jiff::SignedDuration::from_secs(1);
                let times = timetable.next(before, run.times as usize);
                assert_eq!(times.last(), Some(&run.last_due), "{run:?}");
                accounted.extend(times);
            }
            let due =
                std::iter::successors(timetable.after(*created), |time| timetable.after(*time));
            let due: Vec<Timestamp> = due.take_while(|time| *time <= now).collect();
            // Histories keep the last 100 runs.
            let kept = due.len().min(accounted.len());
            assert!(kept == due.len() || runs.len() >= 100, "{due:?} {runs:?}");
            assert_eq!(due[due.len() - kept..], accounted[accounted.len() - kept..]);
            let running = runs.iter().filter(|run| run.state == RunState::Running).count();
            assert!(running <= 1, "{runs:?}");
        }
    }
}

async fn value_of_delete(pool: &ToolPool, number: i64) {
    let deleted = call(pool, "CronDelete", json!({ "id": format!("cron_{number}") })).await;
    assert!(!deleted.is_error());
}

proptest! {
    #![proptest_config(crate::property::cases(24))]

    #[test]
    fn each_due_time_is_run_skipped_or_missed_once(changes in prop::collection::vec(change(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut world = World::new();
            for change in changes {
                world.apply(change).await;
            }
        });
    }
}
