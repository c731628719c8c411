//! One conversation over everything that a host may make of standard input and output.

mod channels;
mod ends;
mod host;
mod lines;
