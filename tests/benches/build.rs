//! Writes the tools that only fill pools: 997 of ours, and as many with rmcp's macros. With
//! the three that are measured they are a thousand.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

/// rmcp sums routers up; the first of its two makes a hundred.
const FIRST: std::ops::Range<usize> = 0..97;
const REST: std::ops::Range<usize> = 97..997;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    write("ours.rs", &(0..997).map(ours).collect::<String>());
    let rmcp = [("first_fillers", FIRST), ("other_fillers", REST)];
    write("rmcp.rs", &rmcp.map(|(name, range)| router(name, range)).concat());
}

fn write(file: &str, text: &str) {
    let directory = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(PathBuf::from(directory).join(file), text).expect("OUT_DIR can be written");
}

fn ours(index: usize) -> String {
    format!(
        "/// Give the number back.\n\
         #[tool]\n\
         async fn filler_{index}(\n    /// A number.\n    value: i64,\n) -> i64 {{\n    value\n}}\n"
    )
}

fn router(name: &str, range: std::ops::Range<usize>) -> String {
    let mut text = format!("#[tool_router(router = {name}, vis = \"pub(crate)\")]\nimpl Server {{\n");
    for index in range {
        let _ = write!(
            text,
            "/// Give the number back.\n\
             #[tool]\n\
             async fn filler_{index}(&self, Parameters(Filler {{ value }}): Parameters<Filler>) -> String {{\n    value.to_string()\n}}\n"
        );
    }
    text.push_str("}\n");
    text
}
