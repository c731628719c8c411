//! Keeps limits in memory, and budgets in a store as well.

use super::counter::Counter;
use super::store::BudgetStore;
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tool_runtime_core::govern::{
    CallEvent, CallNumber, CallStage, CallView, Limit, LimitExceeded, Limiter, Measure, Receipt,
    RecordError, Recorder, Refill, Reservation,
};
use tool_runtime_core::seam::{SessionValues, estimate_tokens, lock};
use tool_runtime_core::tool::{SessionId, ToolContext};
use tool_runtime_core::vocabulary::BoxFuture;

/// The most counters. Calls that need another one are refused.
const MAX_COUNTERS: usize = 100_000;

/// The member of a result's `_meta` that holds its cost, a number in units of money.
const COST: &str = "tool-runtime/cost";

/// Keeps the limits of policies: sliding windows, token buckets, budgets.
///
/// [`Policies`](crate::Policies) installs one. Its clones share their counters.
///
/// The time, the tokens and the cost of a call are known when it ends: calls start while anything of
/// such a budget is left, so the last ones may exceed it. The cost of a call is the number
/// `tool-runtime/cost` in the `_meta` of its result; a result without it costs nothing.
#[derive(Clone)]
pub struct LimitKeeper {
    counters: Arc<Counters>,
    store: Option<Arc<dyn BudgetStore>>,
    allow_on_store_error: bool,
    clock: Clock,
}

type Clock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// The counters, which clones share.
#[derive(Default)]
struct Counters(Mutex<State>);

#[derive(Default)]
struct State {
    rates: HashMap<String, (Counter, Limit), RandomState>,
    used: HashMap<String, u64, RandomState>,
    /// The budgets that calls count against when they end.
    running: HashMap<CallNumber, Vec<Limit>, RandomState>,
    /// The keys of the counters that end with a session.
    sessions: HashMap<SessionId, Vec<String>, RandomState>,
}

impl Default for LimitKeeper {
    fn default() -> Self {
        Self {
            counters: Arc::default(),
            store: None,
            allow_on_store_error: false,
            clock: Arc::new(Instant::now),
        }
    }
}

impl LimitKeeper {
    /// Keeps limits in memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps budgets in a store, too. Default: only in memory.
    #[must_use]
    pub fn store(mut self, store: impl BudgetStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Lets calls run whose budget the store cannot read. Default: they are refused.
    #[must_use]
    pub fn allow_on_store_error(mut self) -> Self {
        self.allow_on_store_error = true;
        self
    }

    /// Sets the clock, for tests. Default: [`Instant::now`].
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The amount used of the budget of a key, as counted by this process.
    pub fn used(&self, key: &str) -> u64 {
        lock(&self.counters.0).used.get(key).copied().unwrap_or_default()
    }

    /// The calls whose use is counted when they end.
    #[cfg(test)]
    pub(super) fn running(&self) -> usize {
        lock(&self.counters.0).running.len()
    }

    /// The counters whose keys begin so.
    #[cfg(test)]
    pub(super) fn counters(&self, prefix: &str) -> usize {
        let state = lock(&self.counters.0);
        state.rates.keys().chain(state.used.keys()).filter(|key| key.starts_with(prefix)).count()
    }

    /// The used amount of a budget, read from the store if this process does not count it yet. `None` if the store
    /// fails and calls go on.
    fn load(&self, state: &mut State, limit: &Limit) -> Result<Option<u64>, LimitExceeded> {
        if let Some(used) = state.used.get(&limit.key) {
            return Ok(Some(*used));
        }
        self.make_room(state)?;
        match self.store_of(limit).map_or(Ok(0), |store| store.used(&limit.key)) {
            Ok(used) => {
                state.used.insert(limit.key.clone(), used);
                Ok(Some(used))
            }
            Err(error) => self.tolerate(&error).map(|()| None),
        }
    }

    /// The store, unless the counter ends with a session.
    fn store_of(&self, limit: &Limit) -> Option<&dyn BudgetStore> {
        self.store.as_deref().filter(|_| !limit.ends_with_session)
    }

    /// Drops counters that can be made again, if there are too many: idle ones, and those in the store.
    fn make_room(&self, state: &mut State) -> Result<(), LimitExceeded> {
        if state.len() < MAX_COUNTERS {
            return Ok(());
        }
        let now = (self.clock)();
        state.rates.retain(|_, (counter, limit)| {
            if let Refill::Window(time) | Refill::Steady(time) = limit.refill {
                counter.refill(limit.amount, time, now);
            }
            !counter.is_idle(limit.amount)
        });
        if self.store.is_some() {
            let of_sessions: HashSet<&String, RandomState> =
                state.sessions.values().flatten().collect();
            state.used.retain(|key, _| of_sessions.contains(key));
        }
        match state.len() < MAX_COUNTERS {
            true => Ok(()),
            false => Err(LimitExceeded::new(
                "too many limits are counted; try again later, or keep budgets in a store by `LimitKeeper::store`",
            )),
        }
    }

    fn tolerate(&self, error: &RecordError) -> Result<(), LimitExceeded> {
        tracing::error!("the store of budgets failed: {error}");
        match self.allow_on_store_error {
            true => Ok(()),
            false => Err(LimitExceeded::new("its budget cannot be checked; try again later")),
        }
    }

    fn check(&self, state: &mut State, limit: &Limit, now: Instant) -> Result<(), LimitExceeded> {
        let (Refill::Window(time) | Refill::Steady(time)) = limit.refill else {
            return match self.load(state, limit)?.unwrap_or_default() < limit.amount {
                true => Ok(()),
                false => Err(LimitExceeded::new(format!("{} is used up", words(limit)))),
            };
        };
        if !state.rates.contains_key(&limit.key) {
            self.make_room(state)?;
        }
        let counter = state.rate(limit, now);
        counter.refill(limit.amount, time, now);
        match counter.wait(limit.amount, time, now) {
            None => Ok(()),
            Some(wait) => {
                let wait = Duration::from_millis(wait.as_millis() as u64 + 1);
                let text = format!("{} is used up", words(limit));
                Err(LimitExceeded::new(text).with_retry_after(wait))
            }
        }
    }

    /// Counts a call whose limits were checked.
    fn take(&self, state: &mut State, limit: &Limit, now: Instant) {
        match (limit.refill, limit.measure) {
            (Refill::Window(_) | Refill::Steady(_), _) => {
                if let Some((counter, _)) = state.rates.get_mut(&limit.key) {
                    counter.take(now);
                }
            }
            (_, Measure::Calls) => self.charge(state, limit, 1),
            _ => {}
        }
    }

    fn charge(&self, state: &mut State, limit: &Limit, amount: u64) {
        // The session may have ended since the call began.
        if limit.ends_with_session && !state.used.contains_key(&limit.key) {
            return;
        }
        match self.load(state, limit) {
            Ok(Some(_)) => {}
            // The store keeps its amount.
            Ok(None) => return,
            Err(error) => {
                tracing::error!(key = limit.key, "a call is not counted: {error}");
                return;
            }
        }
        let used = state.used.entry_ref(&limit.key).or_default();
        *used = used.saturating_add(amount);
        self.save(limit, *used);
    }

    fn save(&self, limit: &Limit, used: u64) {
        let Some(store) = self.store_of(limit) else { return };
        if let Err(error) = store.set_used(&limit.key, used) {
            tracing::error!(key = limit.key, "the store of budgets failed: {error}");
        }
    }

    fn refund(&self, call: CallNumber, limits: &[Limit], taken: Instant) {
        let mut state = lock(&self.counters.0);
        state.running.remove(&call);
        for limit in limits {
            match (limit.refill, limit.measure) {
                (Refill::Never, Measure::Calls) => {
                    if let Some(used) = state.used.get_mut(&limit.key) {
                        *used = used.saturating_sub(1);
                        let used = *used;
                        self.save(limit, used);
                    }
                }
                (Refill::Never, _) => {}
                _ => {
                    if let Some((counter, _)) = state.rates.get_mut(&limit.key) {
                        counter.refund(taken, limit.amount);
                    }
                }
            }
        }
    }
}

impl State {
    fn len(&self) -> usize {
        self.rates.len() + self.used.len()
    }

    /// The counter of a rate. One whose limit is of another kind now starts again.
    fn rate(&mut self, limit: &Limit, now: Instant) -> &mut Counter {
        let fresh = || match limit.refill {
            Refill::Steady(_) => Counter::bucket(limit.amount, now),
            _ => Counter::window(),
        };
        let entry = self.rates.entry(limit.key.clone());
        let (counter, kept) = entry.or_insert_with(|| (fresh(), limit.clone()));
        let is_same = matches!(
            (&*counter, limit.refill),
            (Counter::Window(_), Refill::Window(_)) | (Counter::Bucket { .. }, Refill::Steady(_))
        );
        if !is_same {
            *counter = fresh();
        }
        *kept = limit.clone();
        counter
    }

    /// Lets a counter end with the session of a call.
    fn end_with_session(&mut self, limit: &Limit, context: &ToolContext, counters: &Arc<Counters>) {
        let Some(session) = context.session().filter(|_| limit.ends_with_session) else { return };
        let keys = self.sessions.entry(*session).or_insert_with(|| {
            let counters = Arc::downgrade(counters);
            context.end_with_session(counters as Weak<dyn SessionValues>);
            Vec::new()
        });
        if !keys.contains(&limit.key) {
            keys.push(limit.key.clone());
        }
    }
}

impl SessionValues for Counters {
    fn end(&self, session: SessionId) -> Option<BoxFuture<'static, ()>> {
        let mut state = lock(&self.0);
        for key in state.sessions.remove(&session).unwrap_or_default() {
            state.used.remove(&key);
            state.rates.remove(&key);
        }
        None
    }
}

impl Limiter for LimitKeeper {
    fn reserve(&self, call: &CallView<'_>, limits: &[Limit]) -> Result<Reservation, LimitExceeded> {
        if limits.is_empty() {
            return Ok(Reservation::none());
        }
        let now = (self.clock)();
        let mut state = lock(&self.counters.0);
        for limit in limits {
            self.check(&mut state, limit, now)?;
            state.end_with_session(limit, call.context(), &self.counters);
        }
        for limit in limits {
            self.take(&mut state, limit, now);
        }
        let late: Vec<Limit> =
            limits.iter().filter(|limit| limit.measure != Measure::Calls).cloned().collect();
        if !late.is_empty() {
            state.running.insert(call.number(), late);
        }
        let (keeper, limits, number) = (self.clone(), limits.to_vec(), call.number());
        Ok(Reservation::new(move || keeper.refund(number, &limits, now)))
    }
}

/// Counts what calls used when they end.
impl Recorder for LimitKeeper {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        let CallStage::Finished { outcome, duration, .. } = event.stage else {
            return Receipt::recorded();
        };
        let mut state = lock(&self.counters.0);
        let Some(limits) = state.running.remove(&event.call.number()) else {
            return Receipt::recorded();
        };
        let text = outcome.map_or_else(|error| error.message().into(), |it| it.to_text());
        for limit in limits {
            let amount = match limit.measure {
                Measure::Milliseconds => duration.unwrap_or_default().as_millis() as u64,
                Measure::Tokens => {
                    (estimate_tokens(event.call.arguments()) + estimate_tokens(&text)) as u64
                }
                Measure::Micros => {
                    let cost = outcome.ok().and_then(|it| it.meta()?.get(COST)?.as_f64());
                    (cost.unwrap_or_default().max(0.0) * 1e6).ceil() as u64
                }
                _ => 0,
            };
            self.charge(&mut state, &limit, amount);
        }
        Receipt::recorded()
    }
}

impl fmt::Debug for LimitKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitKeeper").field("has_store", &self.store.is_some()).finish()
    }
}

/// Describes a limit and names its rule.
fn words(limit: &Limit) -> String {
    let rule = limit.key.split('#').next().unwrap_or_default();
    let amount = match limit.measure {
        Measure::Milliseconds => format!("{:?}", Duration::from_millis(limit.amount)),
        Measure::Tokens => format!("{} tokens", limit.amount),
        Measure::Micros => format!("a cost of {}", limit.amount as f64 / 1e6),
        _ => format!("{} calls", limit.amount),
    };
    match limit.refill {
        Refill::Window(time) | Refill::Steady(time) => {
            format!("the limit of {amount} in {time:?} (rule `{rule}`)")
        }
        _ => format!("the budget of {amount} (rule `{rule}`)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit of one call a minute for a caller.
    fn once_a_minute(caller: usize) -> Limit {
        Limit::rate(format!("r#{caller}"), 1, Duration::from_secs(60))
    }

    /// More callers than there are counters. Those of earlier callers are free when their window is over.
    #[test]
    fn counters_that_are_idle_make_room() {
        let (keeper, start) = (LimitKeeper::new(), Instant::now());
        let later = start + Duration::from_secs(60);
        let mut state = lock(&keeper.counters.0);
        for caller in 0..MAX_COUNTERS {
            let limit = once_a_minute(caller);
            keeper.check(&mut state, &limit, start).expect("there is room");
            keeper.take(&mut state, &limit, start);
        }
        let next = once_a_minute(MAX_COUNTERS);
        let refused = keeper.check(&mut state, &next, start).unwrap_err();
        assert!(format!("{refused:?}").contains("too many limits"), "{refused:?}");
        let keeper = keeper.clone().clock(move || later);
        keeper.check(&mut state, &next, later).expect("the others are idle");
    }
}
