//! What commands can do in a sandbox.

mod fixture;
mod git;
mod network;
mod programs;

use crate::needs::Need;
use fixture::{Fixture, ended};
use libtest_mimic::Trial;
use serde_json::json;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use tool_runtime_builtins::{Sandbox, SandboxParams};

pub(crate) fn tests() -> Vec<Trial> {
    let landlock = Confined(Need::Landlock, Sandbox::Landlock, "landlock");
    let bubblewrap = Confined(Need::Bubblewrap, Sandbox::Bubblewrap, "bubblewrap");
    let alone = [
        landlock.test("protects_other_processes", other_processes_are_protected),
        bubblewrap.test("protects_other_processes", other_processes_are_protected),
        bubblewrap.test("protects_shared_memory_and_terminals", |_| devices_are_protected()),
        bubblewrap
            .test("ends_all_processes_with_a_killed_program", |_| all_processes_end_with_it()),
        bubblewrap.test("protects_metadata_outside", |_| metadata_outside_does_not_change()),
        bubblewrap.test("ends_all_processes_with_the_shell", |_| all_processes_end()),
        bubblewrap.test("lets_commands_clean_up_before_they_end", |_| commands_can_clean_up()),
    ];
    let each = [landlock, bubblewrap].into_iter().flat_map(|sandbox| {
        let others = network::tests(sandbox).into_iter().chain(programs::tests(sandbox));
        tests_of_each(sandbox).into_iter().chain(others)
    });
    each.chain(alone).chain(git::tests(bubblewrap)).collect()
}

/// What both sandboxes promise.
fn tests_of_each(sandbox: Confined) -> [Trial; 7] {
    [
        sandbox.test("protects_files_outside", files_outside_do_not_change),
        sandbox.test(
            "does_not_let_files_of_the_tools_lead_outside",
            links_in_place_of_files_of_the_tools_lead_nowhere,
        ),
        sandbox.test(
            "protects_what_a_link_in_place_of_the_root_leads_to",
            a_directory_in_place_of_the_root_does_not_change,
        ),
        sandbox.test("gives_no_capabilities", commands_have_no_capabilities),
        sandbox.test("protects_settings_of_the_kernel", settings_of_the_kernel_do_not_change),
        sandbox.test("lets_files_inside_change", files_inside_change),
        sandbox.test("lets_files_in_added_directories_change", added_directories_change),
    ]
}

/// A sandbox, and its name in the names of tests.
#[derive(Clone, Copy)]
struct Confined(Need, Sandbox, &'static str);

impl Confined {
    fn test<F>(self, name: &str, test: impl FnOnce(Sandbox) -> F + Send + 'static) -> Trial
    where
        F: Future<Output = ()>,
    {
        let Self(need, sandbox, prefix) = self;
        need.test(&format!("sandboxes::{prefix}_{name}"), move || test(sandbox))
    }
}

/// The tools say themselves why the kernel has no Landlock: nothing else tells.
pub(crate) fn check_landlock() -> Result<(), String> {
    let fixture = Fixture::confined(Sandbox::Landlock, true);
    match fixture.pool.tools().is_empty() {
        true => Err(format!("needs a kernel with Landlock ({})", fixture.pool.report())),
        false => Ok(()),
    }
}

/// Commands that must not change a file outside the root.
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
    let fixture = Fixture::confined(sandbox, true);
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
    let fixture = Fixture::confined(sandbox, true);
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
    let fixture = Fixture::confined(sandbox, true);
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

async fn commands_have_no_capabilities(sandbox: Sandbox) {
    let fixture = Fixture::confined(sandbox, true);
    let command = "grep -E 'Cap(Prm|Eff|Inh)' /proc/self/status | cut -f 2 | sort -u";
    for (tool, member) in [("Bash", "stdout"), ("terminal", "output")] {
        let value = fixture.value(tool, json!({ "command": command })).await;
        assert_eq!(value[member].as_str().unwrap().trim(), "0".repeat(16), "{value}");
    }
    fixture.close().await;
}

/// Root needs no capability to change them: the name of the machine, the program that gets core dumps.
async fn settings_of_the_kernel_do_not_change(sandbox: Sandbox) {
    let fixture = Fixture::confined(sandbox, true);
    for name in ["core_pattern", "hostname"] {
        // The same value, which does no harm.
        let file = format!("/proc/sys/kernel/{name}");
        let value = fixture.bash(&format!("x=$(cat {file}) && echo $x > {file}; echo $?")).await;
        assert_eq!(value["stdout"], "1\n", "{value}");
    }
    fixture.close().await;
}

async fn files_inside_change(sandbox: Sandbox) {
    let fixture = Fixture::confined(sandbox, true);
    let command = "mkdir a && echo x > a/b && mv a/b c && cat c && rm -r a && echo y > \"$(mktemp)\" && echo z > /dev/null && cat /etc/passwd > d";
    let value = fixture.bash(command).await;
    assert_eq!((&value["stdout"], &value["exit_code"]), (&json!("x\n"), &json!(0)), "{value}");
    fixture.close().await;
}

/// The operator may add directories.
async fn added_directories_change(sandbox: Sandbox) {
    let added = outside();
    let writable = vec![added.path().to_owned()];
    let fixture = Fixture::with(SandboxParams { writable, ..SandboxParams::new(sandbox) });
    let file = added.path().join("new");
    let value = fixture.bash(&format!("echo x > {}", file.display())).await;
    assert_eq!((&value["exit_code"], file.exists()), (&json!(0), true), "{value}");
    fixture.close().await;
}

async fn other_processes_are_protected(sandbox: Sandbox) {
    let fixture = Fixture::confined(sandbox, true);
    let value = fixture.bash(&format!("kill -0 {} && echo yes", std::process::id())).await;
    assert_eq!(value["stdout"], "", "{value}");
    fixture.close().await;
}

/// Those of others: commands have their own.
async fn devices_are_protected() {
    let fixture = Fixture::confined(Sandbox::Bubblewrap, true);
    let shared = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
    let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
    let terminal = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&terminal).unwrap();
    rustix::pty::unlockpt(&terminal).unwrap();
    let name = rustix::pty::ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    for file in [shared.path().to_str().unwrap(), &name] {
        let value = fixture.bash(&format!("test -e {file} && echo x > {file}")).await;
        assert_ne!(value["exit_code"], 0, "{file}: {value}");
    }
    assert_eq!(std::fs::read(shared.path()).unwrap(), b"");
    fixture.close().await;
}

/// The variable by which this test runs itself: the directory of a root.
const PROGRAM: &str = "SANDBOXED_PROGRAM";

/// Whether this process is the program of a test, which is killed.
pub(crate) fn is_program() -> bool {
    std::env::var_os(PROGRAM).is_some()
}

/// Runs a command that does not end, nor does what it leaves in the background.
pub(crate) fn run_command() {
    let directory = std::env::var_os(PROGRAM).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let fixture = Fixture::beside(Path::new(&directory));
        fixture.bash("exec 3>held; (env -i setsid sleep 1000 &); sleep 1000").await;
    });
}

async fn all_processes_end_with_it() {
    let fixture = Fixture::confined(Sandbox::Bubblewrap, true);
    let (opened, held) = fixture.opened_pipe("held");
    let mut program = std::process::Command::new(std::env::current_exe().unwrap())
        .env(PROGRAM, fixture.root().parent().unwrap())
        .spawn()
        .unwrap();
    ended(opened).await;
    program.kill().unwrap();
    program.wait().unwrap();
    ended(held).await;
    fixture.close().await;
}

/// Landlock has no right for metadata, as its documentation says.
async fn metadata_outside_does_not_change() {
    let fixture = Fixture::confined(Sandbox::Bubblewrap, true);
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

async fn all_processes_end() {
    let fixture = Fixture::confined(Sandbox::Bubblewrap, true);
    let held = fixture.pipe("held");
    fixture.bash("exec 3>held; (env -i setsid sleep 1000 &)").await;
    ended(held).await;
    fixture.close().await;
}

async fn commands_can_clean_up() {
    let fixture = Fixture::confined(Sandbox::Bubblewrap, true);
    let (begun, held) = (fixture.pipe("begun"), fixture.pipe("held"));
    let command =
        "exec 3>held; trap 'echo bye >&3; exit' TERM; echo > begun; sleep 1000 3>&- & wait";
    let id = fixture.start(command).await;
    ended(begun).await;
    fixture.value("KillBash", json!({ "job_id": id })).await;
    assert_eq!(ended(held).await, "bye\n");
    fixture.close().await;
}
