//! One conversation over every kind of standard input and output.

mod channels;
mod end_of_input;
mod host;
mod lines;
