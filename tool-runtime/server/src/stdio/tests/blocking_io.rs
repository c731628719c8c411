//! Blocking calls on non-blocking descriptors.

use std::io::{Read, Write};

use rustix::io::ioctl_fionbio;

use super::super::blocking_io::BlockingIo;
use super::support::pipe;

#[test]
fn bytes_cross_a_non_blocking_pipe_in_both_directions() {
    let (reading, writing) = pipe();
    ioctl_fionbio(&reading, true).expect("a flag");
    ioctl_fionbio(&writing, true).expect("a flag");
    let sent: Vec<u8> = (0..1024 * 1024).map(|n: u32| n.to_le_bytes()[1]).collect();
    let expected = sent.clone();
    let writer = std::thread::spawn(move || BlockingIo(writing.into()).write_all(&sent));
    let mut received = Vec::new();
    BlockingIo(reading.into()).read_to_end(&mut received).expect("the end");
    writer.join().expect("no panic").expect("written");
    assert!(received == expected);
}
