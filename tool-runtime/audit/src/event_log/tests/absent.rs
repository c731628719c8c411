//! A repeated run whose pool no longer has a tool.

use super::*;

#[tokio::test]
async fn a_log_answers_for_a_tool_that_is_gone_and_keeps_no_mark_of_one_that_never_ran() {
    use RecordKind::{Failed, Proposed, Succeeded};
    let (log, runs) = (EventLog::memory(), Arc::default());
    let (full, empty) = (counting(&runs, &log), ToolPool::builder().allow_empty());
    let empty = empty.install(log.clone()).build().unwrap();
    let unknown = attempt(&empty, "once").await;
    assert_eq!(unknown.error().unwrap().class(), ErrorClass::NotFound);
    assert_eq!(kinds(&log).await, [Proposed, Failed]);

    let first = attempt(&full, "once").await.observation().to_text();
    let before = kinds(&log).await.len();
    let again = attempt(&empty, "once").await;
    assert_eq!(again.observation().to_text(), first);
    let records = records(&log).await.split_off(before);
    assert_eq!(records.iter().map(|it| it.kind).collect::<Vec<_>>(), [Proposed, Succeeded]);
    assert_eq!(records[1].replayed, Some(true));
    assert_eq!(attempt(&full, "once").await.observation().to_text(), first, "nothing ran again");
}
