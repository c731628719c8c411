//! One conversation over every kind of standard input and output.

mod channels;
mod ends;
mod host;
mod lines;
