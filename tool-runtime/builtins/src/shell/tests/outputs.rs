//! Whole outputs as resources.

use super::{Fixture, LIMIT};
use serde_json::{Value, json};
use tool_runtime::content::ResourceLink;
use tool_runtime::govern::OutputLimits;
use tool_runtime::prelude::*;
use tool_runtime::{ContentBlock, ErrorClass, Principal};

/// A command whose output is cut.
const LONG: &str = "seq 1 200000; echo end";

fn links(observation: &Observation) -> Vec<ResourceLink> {
    let link = |block: &ContentBlock| match block {
        ContentBlock::ResourceLink(link) => Some((**link).clone()),
        _ => None,
    };
    observation.content().iter().filter_map(link).collect()
}

impl Fixture {
    /// The only link of a call.
    pub(super) async fn link(&self, tool: &str, arguments: Value) -> ResourceLink {
        let observation = self.call(tool, arguments).await;
        let [link] = &links(&observation)[..] else { panic!("{observation:?}") };
        link.clone()
    }

    pub(super) async fn resource(
        &self,
        uri: &str,
        context: &ToolContext,
    ) -> Result<String, ErrorClass> {
        let read = tokio::time::timeout(LIMIT, self.pool.read_resource(uri, context));
        let contents = read.await.expect("the read hangs").map_err(|error| error.class())?;
        Ok(contents[0].text.clone().unwrap())
    }
}

fn numbers() -> String {
    (1..=200_000).map(|number| format!("{number}\n")).chain(["end\n".to_owned()]).collect()
}

#[tokio::test]
async fn a_cut_output_is_a_resource_in_parts() {
    let fixture = Fixture::new();
    let link = fixture.link("Bash", json!({ "command": LONG })).await;
    assert_eq!(link.size, Some(numbers().len() as u64));
    let first = link.uri.strip_suffix("/1").unwrap();
    let about = format!("The output, in parts: {first}/1 to {first}/2");
    assert_eq!(link.description, Some(about));
    let context = fixture.pool.context();
    let mut text = fixture.resource(&link.uri, &context).await.unwrap();
    assert!(text.ends_with('\n') && text.len() < 1_100_000);
    text += &fixture.resource(&format!("{first}/2"), &context).await.unwrap();
    assert!(text == numbers());
    for part in ["0", "3", "-1", "x", "18446744073709551615"] {
        let read = fixture.resource(&format!("{first}/{part}"), &context).await;
        assert_eq!(read, Err(ErrorClass::NotFound), "{part}");
    }
    let short = fixture.call("Bash", json!({ "command": "echo short" })).await;
    assert!(links(&short).is_empty());
    fixture.close().await;
}

#[tokio::test]
async fn outputs_belong_to_their_caller_and_end_with_the_pool() {
    let fixture = Fixture::new();
    let link = fixture.link("Bash", json!({ "command": LONG })).await;
    let context = fixture.pool.context();
    let mallory = context.clone().with_principal(Principal::new("mallory"));
    assert_eq!(fixture.resource(&link.uri, &mallory).await, Err(ErrorClass::NotFound));
    assert!(fixture.resource(&link.uri, &context).await.is_ok());
    fixture.pool.close().await;
    assert!(fixture.resource(&link.uri, &context).await.is_err());
}

#[tokio::test]
async fn jobs_and_terminals_have_links_too() {
    let fixture = Fixture::new();
    let context = fixture.pool.context();
    let begun = fixture.pipe("begun");
    let command = format!("{LONG}; echo > begun");
    let arguments = json!({ "command": command, "run_in_background": true });
    let id = fixture.value("Bash", arguments).await["job_id"].clone();
    super::ended(begun).await;
    let link = fixture.link("KillBash", json!({ "job_id": id })).await;
    assert!(fixture.resource(&link.uri, &context).await.unwrap().starts_with("1\n2\n"));
    let link = fixture.link("terminal", json!({ "command": LONG })).await;
    assert!(fixture.resource(&link.uri, &context).await.unwrap().contains("\n777\r\n"));
    fixture.close().await;
}

#[tokio::test]
async fn the_number_of_outputs_is_limited() {
    let fixture = Fixture::new();
    let context = fixture.pool.context();
    let mut uris = Vec::new();
    for _ in 0..65 {
        let arguments = json!({ "command": "head -c 120000 /dev/zero | tr '\\0' x" });
        uris.push(fixture.link("Bash", arguments).await.uri);
    }
    assert_eq!(fixture.resource(&uris[0], &context).await, Err(ErrorClass::NotFound));
    for uri in [&uris[1], &uris[64]] {
        assert_eq!(fixture.resource(uri, &context).await.unwrap().len(), 120_000);
    }
    fixture.close().await;
}

#[tokio::test]
async fn fifty_thousand_bytes_of_both_ends_are_kept_where_the_host_allows_it() {
    let command = json!({ "command": "yes a | head -c 60000; yes z | head -c 60000" });
    for (limits, kept) in [(None, 50_000), (Some(OutputLimits::default()), 10_000)] {
        let fixture = Fixture::with_limits(limits.clone());
        let observation = fixture.call("Bash", command.clone()).await;
        let text = observation.to_text();
        let is_near = |letter: char| {
            let bytes = 2 * text.matches(&format!("{letter}\n")).count();
            (kept - 1_000..=kept).contains(&bytes)
        };
        assert!(is_near('a') && is_near('z'), "{}", text.len());
        let notice = "the host limits results to 30000 characters: the first and the last 10000 bytes of standard output are kept, and 4000 of standard error";
        assert_eq!(text.contains(notice), limits.is_some(), "{text}");
        assert!(!text.contains("characters removed") && !observation.is_error(), "{text}");
        fixture.close().await;
    }
}
