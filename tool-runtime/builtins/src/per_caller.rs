//! A value for each agent of each session.

use crate::caller::Caller;
use std::collections::HashMap;
use std::sync::Mutex;
use tool_runtime::__seam::lock;
use tool_runtime::ToolContext;

/// Values that are kept; the one that was not used for the longest time makes room.
const MAX_VALUES: usize = 256;

/// Values by caller.
pub(crate) struct PerCaller<T>(Mutex<Values<T>>);

struct Values<T> {
    values: HashMap<Caller, (u64, T)>,
    /// The number of uses.
    uses: u64,
}

impl<T: Default> PerCaller<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Values { values: HashMap::new(), uses: 0 }))
    }

    /// Uses the value of a caller.
    pub(crate) fn with<R>(&self, context: &ToolContext, use_it: impl FnOnce(&mut T) -> R) -> R {
        let caller = Caller::from_context(context);
        let mut all = lock(&self.0);
        all.uses += 1;
        let number = all.uses;
        if all.values.len() == MAX_VALUES && !all.values.contains_key(&caller) {
            let oldest = all.values.iter().min_by_key(|(_, (used, _))| *used);
            let oldest = oldest.map(|(caller, _)| caller.clone());
            oldest.and_then(|caller| all.values.remove(&caller));
        }
        let (used, value) = all.values.entry(caller).or_default();
        *used = number;
        use_it(value)
    }
}
