mod after_hooks;
mod ask;
mod before_hooks;
mod failures;
mod support;
