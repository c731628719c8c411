//! What commands get of the process and of the machine.

use super::Fixture;
use crate::shell::{CommandLimits, ShellParams};
use crate::{Builtins, Workspace};
use serde_json::json;
use tool_runtime::prelude::*;

fn limited(limits: CommandLimits) -> Fixture {
    Fixture::with(ShellParams { limits, ..ShellParams::default() }, &[])
}

/// Variables of the process that are set under cargo: `CARGO_PKG_NAME` is not passed, `CARGO_HOME` would be.
#[tokio::test]
async fn variables_of_the_process_are_withheld_unless_they_are_harmless() {
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
    for (more, expected) in [(&[][..], ""), (&["CARGO_PKG_NAME"], "tool-runtime-builtins")] {
        let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR"));
        let workspace = workspace.pass_variables(more.iter().copied()).build().unwrap();
        assert!(workspace.withheld_variables() > 0);
        let builtins = Builtins::new(workspace).shell(ShellParams::default());
        let pool = ToolPool::builder().install(builtins).build().unwrap();
        let command = json!({ "command": "echo $CARGO_PKG_NAME; test -n \"$PATH\"" });
        let result = pool.call(ToolCall::json("Bash", command)).await;
        let value = result.observation().structured().unwrap().clone();
        assert_eq!(value["stdout"], format!("{expected}\n"), "{value}");
        assert_eq!(value["exit_code"], 0);
        pool.close().await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn commands_have_limits_and_no_more_than_this_process() {
    let limits = CommandLimits {
        processes: 1000,
        memory: 1 << 30,
        file: 1 << 20,
        ..CommandLimits::default()
    };
    let fixture = limited(limits);
    for tool in ["Bash", "terminal"] {
        let command = json!({ "command": "ulimit -u; ulimit -d; ulimit -f" });
        let value = fixture.value(tool, command).await;
        let text = value["stdout"].as_str().or(value["output"].as_str()).unwrap();
        let numbers: Vec<u64> = text.split_whitespace().map(|it| it.parse().unwrap()).collect();
        // In KiB, and in blocks of KiB.
        assert_eq!(numbers[1..], [1 << 20, 1 << 10], "{value}");
        assert!(numbers[0] > 1000, "{value}");
    }
    let value = fixture.bash("head -c 2000000 /dev/zero > big; wc -c < big").await;
    assert_eq!(value["stdout"], "1048576\n", "{value}");
    let value = fixture.bash("python3 -c 'bytearray(2 << 30)' 2>&1 | tail -n 1").await;
    assert_eq!(value["stdout"], "MemoryError\n", "{value}");
    fixture.close().await;

    let fixture = limited(CommandLimits { processes: 0, memory: 0, file: 0, stored_output: 0 });
    let value = fixture.bash("ulimit -d; ulimit -f").await;
    let own = fixture.bash("ulimit -H -d; ulimit -H -f").await;
    assert_eq!(value["stdout"], own["stdout"]);
    fixture.close().await;
}

#[tokio::test]
async fn older_outputs_make_room() {
    let fixture = limited(CommandLimits { stored_output: 1 << 20, ..CommandLimits::default() });
    let files = async |bytes: usize| {
        let command = format!("head -c {bytes} /dev/zero | tr '\\0' x");
        let value = fixture.bash(&command).await;
        std::path::PathBuf::from(value["output_files"][0].as_str().unwrap())
    };
    // A quarter is the most of one.
    let first = files(1 << 20).await;
    assert_eq!(first.metadata().unwrap().len(), 1 << 18);
    let mut others = Vec::new();
    for _ in 0..4 {
        others.push(files(1 << 18).await);
    }
    assert!(!first.exists() && others.iter().all(|file| file.exists()));
    fixture.close().await;
}

/// Programs that start an editor fail at once, with a message.
#[tokio::test]
async fn no_command_waits_for_an_editor() {
    let fixture = Fixture::new();
    let command = "export HOME=$PWD; git init -q .; git config user.name a; git config user.email a@b; git commit -q --allow-empty";
    let value = fixture.bash(command).await;
    let text = value["stderr"].as_str().unwrap();
    assert!(text.contains("there is no editor") && value["exit_code"] == 1, "{value}");
    fixture.close().await;
}
