//! Empty: it makes the build-dependencies count.

fn main() {}
