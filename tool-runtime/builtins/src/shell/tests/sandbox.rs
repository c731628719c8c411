use super::{Fixture, ended};
use crate::shell::{Sandbox, ShellParams};
use serde_json::json;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The pool, or `None` with a remark where the system has no such sandbox. CI sets `REQUIRE_SANDBOXES`, where a missing
/// one is a failure.
fn fixture(sandbox: Sandbox, network: bool) -> Option<Fixture> {
    available(Fixture::confined(sandbox, network), sandbox)
}

fn available(fixture: Fixture, sandbox: Sandbox) -> Option<Fixture> {
    if fixture.pool.tools().is_empty() {
        assert!(std::env::var_os("REQUIRE_SANDBOXES").is_none(), "{}", fixture.pool.report());
        eprintln!("SKIPPED: {sandbox:?} is not available here: {}", fixture.pool.report());
        return None;
    }
    Some(fixture)
}

/// Commands that must not change a file outside of the root.
const ESCAPES: &[&str] = &[
    "echo x > OUTSIDE",
    "true; echo x > OUTSIDE",
    "true && echo x > OUTSIDE",
    "echo x | tee OUTSIDE",
    "(echo x > OUTSIDE)",
    "env tee OUTSIDE < /etc/hostname",
    "echo x | xargs touch OUTSIDE",
    "bash -c 'echo x > OUTSIDE'",
    "setsid bash -c 'echo x > OUTSIDE'",
    "ln -s OUTSIDE link; echo x > link",
    "cp /etc/hostname OUTSIDE",
    "mv inside OUTSIDE",
    "ln inside OUTSIDE",
    "mkdir OUTSIDE",
    "python3 -c 'open(\"OUTSIDE\", \"w\")'",
    "python3 -c 'import os; os.truncate(\"EXISTING\", 0)'",
    "rm -f EXISTING",
    "truncate -s 0 EXISTING",
    "echo x >> EXISTING",
    "echo x > /proc/$PPID/root/OUTSIDE",
    "mount -o remount,rw,bind / && echo x > OUTSIDE",
];

/// A directory that is not below the one for temporary files, which commands may change.
fn outside() -> tempfile::TempDir {
    let mut places = [env!("CARGO_MANIFEST_DIR"), "/var/tmp"].into_iter();
    let place = places.find(|place| !Path::new(place).starts_with(std::env::temp_dir()));
    tempfile::tempdir_in(place.expect("a directory that is not for temporary files")).unwrap()
}

async fn files_outside_do_not_change(sandbox: Sandbox) {
    let Some(fixture) = fixture(sandbox, true) else { return };
    let outside = outside();
    let (new, existing) = (outside.path().join("new"), outside.path().join("existing"));
    std::fs::write(&existing, "content").unwrap();
    for command in ESCAPES {
        let command = command.replace("OUTSIDE", new.to_str().unwrap());
        let command = command.replace("EXISTING", existing.to_str().unwrap());
        fixture.bash("echo x > inside").await;
        for arguments in [
            json!({ "command": command }),
            json!({ "command": command, "run_in_background": true }),
        ] {
            let value = fixture.value("Bash", arguments).await;
            if let Some(id) = value["job_id"].as_str() {
                fixture.wait_for_job(id).await;
            }
        }
        fixture.value("terminal", json!({ "command": command })).await;
        assert!(!new.exists(), "{command}");
        assert_eq!(std::fs::read_to_string(&existing).unwrap(), "content", "{command}");
    }
    fixture.close().await;
}

/// The tools have files in the directory for temporary files, which commands may change.
async fn links_in_place_of_files_of_the_tools_lead_nowhere(sandbox: Sandbox) {
    let Some(fixture) = fixture(sandbox, true) else { return };
    let outside = outside();
    let existing = outside.path().join("existing");
    std::fs::write(&existing, "content").unwrap();
    let name = existing.display();
    let plant = "for n in {0..30}; do ln -s NAME \"${BASH_SOURCE%/*}/$n-command.sh\"; done 2>&-";
    fixture.value("terminal", json!({ "command": plant.replace("NAME", &name.to_string()) })).await;
    fixture.call("terminal", json!({ "command": "echo x" })).await;
    assert_eq!(std::fs::read_to_string(&existing).unwrap(), "content");

    let context = fixture.pool.context();
    let link = fixture.link("Bash", json!({ "command": "seq 1 20000" })).await;
    let file = fixture.bash("seq 1 20000").await["output_files"][0].clone();
    let file = file.as_str().unwrap().rsplit_once('/').unwrap().0.to_owned();
    fixture.bash(&format!("cd {file}; for f in *-stdout.txt; do ln -sf {name} $f; done")).await;
    assert!(fixture.resource(&link.uri, &context).await.is_err());
    fixture.close().await;
}

/// The parent of the root is the directory for temporary files, which commands may change.
async fn a_directory_in_place_of_the_root_does_not_change(sandbox: Sandbox) {
    let Some(fixture) = fixture(sandbox, true) else { return };
    let outside = outside();
    let (root, new) = (fixture.root(), outside.path().join("new"));
    let [moved, root, outside] = [root.with_extension("moved"), root, outside.path().to_owned()]
        .map(|path| path.display().to_string());
    fixture.bash(&format!("mv {root} {moved} && ln -s {outside} {root}")).await;
    for command in ["echo x > new".to_owned(), format!("echo x > {}", new.display())] {
        // Either the command fails or the call.
        fixture.call("Bash", json!({ "command": command })).await;
        fixture.call("terminal", json!({ "command": command })).await;
        assert!(!new.exists(), "{command}");
    }
    fixture.close().await;
}

impl Fixture {
    async fn wait_for_job(&self, id: &str) {
        while self.value("BashOutput", json!({ "job_id": id })).await["status"] == "running" {
            tokio::task::yield_now().await;
        }
    }
}

async fn commands_have_no_capabilities(sandbox: Sandbox) {
    let Some(fixture) = fixture(sandbox, true) else { return };
    let command = "grep -E 'Cap(Prm|Eff|Inh)' /proc/self/status | cut -f 2 | sort -u";
    for (tool, member) in [("Bash", "stdout"), ("terminal", "output")] {
        let value = fixture.value(tool, json!({ "command": command })).await;
        assert_eq!(value[member].as_str().unwrap().trim(), "0".repeat(16), "{value}");
    }
    fixture.close().await;
}

/// Root needs no capability to change them: the name of the machine, the program that gets core dumps.
async fn settings_of_the_kernel_do_not_change(sandbox: Sandbox) {
    let Some(fixture) = fixture(sandbox, true) else { return };
    for name in ["core_pattern", "hostname"] {
        // The same value, which does no harm.
        let file = format!("/proc/sys/kernel/{name}");
        let value = fixture.bash(&format!("x=$(cat {file}) && echo $x > {file}; echo $?")).await;
        assert_eq!(value["stdout"], "1\n", "{value}");
    }
    fixture.close().await;
}

async fn files_inside_change(sandbox: Sandbox) {
    let Some(fixture) = fixture(sandbox, true) else { return };
    let command = "mkdir a && echo x > a/b && mv a/b c && cat c && rm -r a && echo y > \"$(mktemp)\" && echo z > /dev/null && cat /etc/passwd > d";
    let value = fixture.bash(command).await;
    assert_eq!((&value["stdout"], &value["exit_code"]), (&json!("x\n"), &json!(0)), "{value}");
    fixture.close().await;
}

/// The operator may add directories.
async fn added_directories_change(sandbox: Sandbox) {
    let added = outside();
    let writable = vec![added.path().to_owned()];
    let params = ShellParams { sandbox, writable, ..ShellParams::default() };
    let Some(fixture) = available(Fixture::with(params, &[]), sandbox) else { return };
    let file = added.path().join("new");
    let value = fixture.bash(&format!("echo x > {}", file.display())).await;
    assert_eq!((&value["exit_code"], file.exists()), (&json!(0), true), "{value}");
    fixture.close().await;
}

/// Connects to a server of the test, and prints the outcome.
async fn reaches_the_network(sandbox: Sandbox, network: bool) -> Option<bool> {
    let fixture = fixture(sandbox, network)?;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let command = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo yes || echo no");
    let value = fixture.bash(&command).await;
    fixture.close().await;
    Some(value["stdout"] == "yes\n")
}

#[tokio::test]
async fn landlock_protects_files_outside() {
    files_outside_do_not_change(Sandbox::Landlock).await;
}

#[tokio::test]
async fn landlock_does_not_let_files_of_the_tools_lead_outside() {
    links_in_place_of_files_of_the_tools_lead_nowhere(Sandbox::Landlock).await;
}

#[tokio::test]
async fn landlock_protects_what_a_link_in_place_of_the_root_leads_to() {
    a_directory_in_place_of_the_root_does_not_change(Sandbox::Landlock).await;
}

#[tokio::test]
async fn commands_in_landlock_have_no_capabilities() {
    commands_have_no_capabilities(Sandbox::Landlock).await;
}

#[tokio::test]
async fn landlock_protects_settings_of_the_kernel() {
    settings_of_the_kernel_do_not_change(Sandbox::Landlock).await;
}

#[tokio::test]
async fn landlock_lets_files_inside_change() {
    files_inside_change(Sandbox::Landlock).await;
}

#[tokio::test]
async fn landlock_lets_files_in_added_directories_change() {
    added_directories_change(Sandbox::Landlock).await;
}

#[tokio::test]
async fn landlock_denies_connections_if_asked() {
    assert!(matches!(reaches_the_network(Sandbox::Landlock, true).await, None | Some(true)));
    assert!(matches!(reaches_the_network(Sandbox::Landlock, false).await, None | Some(false)));
}

#[tokio::test]
async fn landlock_protects_other_processes() {
    let Some(fixture) = fixture(Sandbox::Landlock, true) else { return };
    let value = fixture.bash(&format!("kill -0 {} && echo yes", std::process::id())).await;
    assert_eq!(value["stdout"], "", "{value}");
    fixture.close().await;
}

#[tokio::test]
async fn bubblewrap_protects_files_outside() {
    files_outside_do_not_change(Sandbox::Bubblewrap).await;
}

#[tokio::test]
async fn bubblewrap_does_not_let_files_of_the_tools_lead_outside() {
    links_in_place_of_files_of_the_tools_lead_nowhere(Sandbox::Bubblewrap).await;
}

#[tokio::test]
async fn bubblewrap_protects_what_a_link_in_place_of_the_root_leads_to() {
    a_directory_in_place_of_the_root_does_not_change(Sandbox::Bubblewrap).await;
}

#[tokio::test]
async fn commands_in_bubblewrap_have_no_capabilities() {
    commands_have_no_capabilities(Sandbox::Bubblewrap).await;
}

#[tokio::test]
async fn bubblewrap_protects_settings_of_the_kernel() {
    settings_of_the_kernel_do_not_change(Sandbox::Bubblewrap).await;
}

#[tokio::test]
async fn bubblewrap_lets_files_inside_change() {
    files_inside_change(Sandbox::Bubblewrap).await;
}

#[tokio::test]
async fn bubblewrap_lets_files_in_added_directories_change() {
    added_directories_change(Sandbox::Bubblewrap).await;
}

#[tokio::test]
async fn bubblewrap_denies_the_network_if_asked() {
    assert!(matches!(reaches_the_network(Sandbox::Bubblewrap, true).await, None | Some(true)));
    assert!(matches!(reaches_the_network(Sandbox::Bubblewrap, false).await, None | Some(false)));
}

/// Landlock has no right for metadata, as its documentation says.
#[tokio::test]
async fn bubblewrap_protects_metadata_outside() {
    let Some(fixture) = fixture(Sandbox::Bubblewrap, true) else { return };
    let outside = outside();
    let file = outside.path().join("file");
    std::fs::write(&file, "").unwrap();
    let before = std::fs::metadata(&file).unwrap();
    let name = file.display();
    for command in ["chmod 777", "touch -d @0", "chown 1:1", "chmod -x"] {
        fixture.bash(&format!("{command} {name}; {command} {}", outside.path().display())).await;
        let after = std::fs::metadata(&file).unwrap();
        let facts = |metadata: &std::fs::Metadata| {
            (metadata.mode(), metadata.uid(), metadata.gid(), metadata.mtime())
        };
        assert_eq!(facts(&after), facts(&before), "{command}");
    }
    fixture.close().await;
}

#[tokio::test]
async fn bubblewrap_ends_all_processes_with_the_shell() {
    let Some(fixture) = fixture(Sandbox::Bubblewrap, true) else { return };
    let held = fixture.pipe("held");
    fixture.bash("exec 3>held; (env -i setsid sleep 1000 &)").await;
    ended(held).await;
    fixture.close().await;
}

#[tokio::test]
async fn a_command_in_bubblewrap_can_clean_up_before_it_is_ended() {
    let Some(fixture) = fixture(Sandbox::Bubblewrap, true) else { return };
    let command = "trap 'echo bye; exit' TERM; while :; do sleep 0.02; done";
    let result = fixture.call("Bash", json!({ "command": command, "timeout_ms": 500 })).await;
    assert!(result.to_text().starts_with("bye\n"), "{}", result.to_text());
    fixture.close().await;
}

#[tokio::test]
async fn no_network_without_a_sandbox_is_refused() {
    let fixture = Fixture::confined(Sandbox::Off, false);
    assert!(fixture.pool.tools().is_empty());
    let report = fixture.pool.report().to_string();
    assert!(report.contains("`network = false` needs a sandbox"), "{report}");
}
