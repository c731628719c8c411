//! Random calls that enter, end and are dropped in random order.

use super::simulation::{Call, Simulation};
use crate::tool::concurrency::access::{Access, Claim};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    /// Enters a call. The number selects the parent among the held calls, if there is one.
    Enter { claim: Claim, parent: Option<u8>, at_once: bool },
    /// Ends a held call that waits for no nested call.
    End(u8),
    /// Drops a waiting call.
    GiveUp(u8),
    /// Drops a held call while its nested calls continue.
    Abandon(u8),
}

const MAX_DEPTH: usize = 3;

fn claim() -> impl Strategy<Value = Claim> {
    let keys = |most| proptest::sample::subsequence(vec!["a", "b", "c", "d"], 0..=most);
    let declared = (keys(1), keys(2)).prop_map(|(reads, writes)| {
        let access = reads.into_iter().fold(Access::none(), Access::read);
        writes.into_iter().fold(access, Access::write)
    });
    let access = prop_oneof![8 => declared, 1 => Just(Access::undeclared())];
    (access, any::<bool>()).prop_map(|(access, is_read_only)| Claim { access, is_read_only })
}

fn step(parent: impl Strategy<Value = Option<u8>>) -> impl Strategy<Value = Step> {
    let enter = (claim(), parent, prop::bool::weighted(0.8));
    prop_oneof![
        16 => enter.prop_map(|(claim, parent, at_once)| Step::Enter { claim, parent, at_once }),
        4 => any::<u8>().prop_map(Step::End),
        1 => any::<u8>().prop_map(Step::GiveUp),
        1 => any::<u8>().prop_map(Step::Abandon),
    ]
}

fn pick(from: &[usize], number: u8) -> Option<usize> {
    (!from.is_empty()).then(|| from[usize::from(number) % from.len()])
}

impl Simulation {
    fn apply(&mut self, step: &Step) {
        match step {
            Step::Enter { claim, parent, at_once } => {
                let may = |simulation: &Self, index: usize| {
                    simulation.calls[index].is_held() && simulation.depth(index) < MAX_DEPTH
                };
                let parent = parent.and_then(|number| pick(&self.select(may), number));
                self.enter(claim.clone(), parent, *at_once);
            }
            Step::End(number) => self.end_one(Self::can_end, *number),
            Step::GiveUp(number) => {
                self.end_one(|simulation, at| simulation.calls[at].is_waiting(), *number);
            }
            Step::Abandon(number) => {
                self.end_one(|simulation, at| simulation.calls[at].is_held(), *number);
            }
        }
        self.settle();
        self.check();
    }

    fn end_one(&mut self, may: impl Fn(&Self, usize) -> bool, number: u8) {
        if let Some(index) = pick(&self.select(may), number) {
            self.end(index);
        }
    }

    /// Ends all remaining calls without new ones.
    fn drain(&mut self, numbers: &[u8]) {
        let mut numbers = numbers.iter().copied().cycle();
        self.poll_all();
        self.check();
        while !self.calls.iter().all(Call::is_finished) {
            let number = numbers.next().expect("a number");
            let index =
                pick(&self.select(Self::can_end), number).expect("a deadlock: no call can end");
            self.end(index);
            self.settle();
            self.check();
        }
        assert!(self.queue.lock().is_empty(), "something is left behind");
    }
}

fn run(steps: &[Step], numbers: &[u8]) -> Simulation {
    let mut simulation = Simulation::default();
    steps.iter().for_each(|step| simulation.apply(step));
    simulation.drain(numbers);
    simulation
}

proptest! {
    #![proptest_config(crate::property::cases(2000))]

    #[test]
    fn root_calls_are_all_served(
        steps in vec(step(Just(None)), 1..40),
        numbers in vec(any::<u8>(), 16),
    ) {
        prop_assert_eq!(run(&steps, &numbers).rejections, 0);
    }

    #[test]
    fn nested_calls_are_served_or_rejected(
        steps in vec(step(weighted(0.7, any::<u8>())), 1..40),
        numbers in vec(any::<u8>(), 16),
    ) {
        run(&steps, &numbers);
    }
}

/// The random cases are useful only if enough nested calls are rejected.
#[test]
fn some_nested_calls_are_rejected() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let steps = vec(step(weighted(0.7, any::<u8>())), 30);
    let rejections = (0..60).map(|_| {
        let steps = steps.new_tree(&mut runner).expect("steps").current();
        run(&steps, &[0]).rejections
    });
    let rejections: usize = rejections.sum();
    assert!(rejections > 10, "{rejections}");
}
