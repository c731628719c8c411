//! The unit of systemd that the gateway comes with.

use crate::needs::Need;
use libtest_mimic::Trial;
use std::path::Path;
use std::process::Command;

pub(crate) fn tests() -> Vec<Trial> {
    vec![Need::SystemdAnalyze.test("service::systemd_accepts_the_unit", systemd_accepts_the_unit)]
}

pub(crate) fn check_systemd() -> Result<(), String> {
    let found = Command::new("systemd-analyze").arg("--version").output();
    found.map(drop).map_err(|_| "needs systemd-analyze (apt-get install systemd)".to_owned())
}

async fn systemd_accepts_the_unit() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tool-runtime/gateway/deploy/tool-gateway.service");
    let unit = std::fs::read_to_string(unit).unwrap();
    let program = "/usr/local/bin/tool-gateway";
    assert_eq!(unit.matches(program).count(), 2);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tool-gateway.service");
    // The program must exist.
    std::fs::write(&file, unit.replace(program, "/bin/true")).unwrap();
    let output = Command::new("systemd-analyze").arg("verify").arg(&file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.is_empty(), "{text}");
}
