//! What happens to calls while the log cannot be written.

use super::*;
use crate::OnFailure;

#[tokio::test]
async fn while_the_log_fails_calls_are_rejected_or_go_on_as_configured() {
    for on_failure in [OnFailure::Reject, OnFailure::Continue] {
        let fails = Arc::new(true.into());
        let backend = Faulty(crate::memory::MemoryLog::default(), Arc::clone(&fails));
        let log = EventLog::builder().on_failure(on_failure).backend(backend).unwrap();
        let pool = pool(&log);
        // The first safe call may run before the failure is known.
        log.flush().await.unwrap_or_default();
        pool.call(ToolCall::new("send", "{}")).await;
        for tool in ["send", "echo"] {
            let result = pool.call(ToolCall::new(tool, "{}")).await;
            let class = result.error().map(|error| error.class());
            let expected = (on_failure == OnFailure::Reject).then_some(ErrorClass::Transient);
            assert_eq!(class, expected, "{tool}");
        }
        assert!(log.status().error.is_some_and(|error| error.kind() == LogErrorKind::Full));
        fails.store(false, Order::Relaxed);
        log.flush().await.unwrap();
        assert!(log.status().error.is_none());
        assert!(pool.call(ToolCall::new("send", "{}")).await.error().is_none());
        // Also what happened meanwhile is written.
        let ended = kinds(&log).await.into_iter().filter(|kind| kind.is_end()).count();
        assert_eq!(ended, 4);
    }
}

#[tokio::test]
async fn a_call_that_waits_for_a_full_queue_is_rejected_or_goes_on_as_configured() {
    let arguments = json!({ "text": "x".repeat(crate::writer::MAX_QUEUED_BYTES) }).to_string();
    for on_failure in [OnFailure::Reject, OnFailure::Continue] {
        for tool in ["send", "echo"] {
            let backend = Faulty(crate::memory::MemoryLog::default(), Arc::new(true.into()));
            let log = EventLog::builder().on_failure(on_failure).backend(backend).unwrap();
            let result = pool(&log).call(ToolCall::new(tool, &*arguments)).await;
            let class = result.error().map(|error| error.class());
            let is_rejected = class == Some(ErrorClass::Transient);
            assert_eq!(is_rejected, on_failure == OnFailure::Reject, "{tool}: {class:?}");
        }
    }
}

#[tokio::test]
async fn records_that_are_given_up_are_counted_once() {
    let fails = Arc::new(true.into());
    let backend = Faulty(crate::memory::MemoryLog::default(), Arc::clone(&fails));
    let log = EventLog::builder().on_failure(OnFailure::Continue).backend(backend).unwrap();
    let pool = pool(&log);
    for _ in 0..10 {
        pool.call(ToolCall::new("echo", "{}")).await;
    }
    log.flush().await.unwrap_err();
    assert_eq!((log.status().unwritten, log.status().lost), (32, 8));
    fails.store(false, Order::Relaxed);
    for _ in 0..2 {
        log.flush().await.unwrap();
        pool.call(ToolCall::new("echo", "{}")).await;
    }
    let lost = records(&log).await.into_iter().filter(|record| record.lost.is_some());
    let lost: Vec<_> = lost.map(|record| (record.kind, record.lost)).collect();
    assert_eq!(lost, [(RecordKind::Lost, Some(8))]);
    // All failures are counted.
    fails.store(true, Order::Relaxed);
    for _ in 0..10 {
        pool.call(ToolCall::new("echo", "{}")).await;
    }
    log.flush().await.unwrap_err();
    assert_eq!(log.status().lost, 16);
}

#[tokio::test]
async fn a_backend_that_panics_ends_the_log_and_calls_are_rejected() {
    struct Panics;
    impl crate::LogBackend for Panics {
        fn append(
            &mut self,
            _: &mut dyn FnMut(crate::Head) -> Vec<crate::LogLine>,
        ) -> Result<(), LogError> {
            panic!("as asked")
        }
        fn step(&mut self, _: &str) -> Result<Vec<crate::LogLine>, LogError> {
            Ok(Vec::new())
        }
        fn reader(&self) -> Result<Box<dyn crate::LogRead>, LogError> {
            Err(LogError::new(LogErrorKind::Other, "none"))
        }
    }
    let log = EventLog::builder().backend(Panics).unwrap();
    let pool = pool(&log);
    for tool in ["send", "send", "echo"] {
        assert!(pool.call(ToolCall::new(tool, "{}")).await.error().is_some());
    }
    assert!(log.flush().await.is_err());
}

#[test]
fn a_log_is_written_without_a_runtime() {
    let fails = Arc::new(true.into());
    let backend = Faulty(crate::memory::MemoryLog::default(), Arc::clone(&fails));
    let log = EventLog::builder().backend(backend).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(pool(&log).call(ToolCall::new("echo", "{}")));
    assert_eq!(log.flush_blocking().unwrap_err().kind(), LogErrorKind::Full);
    fails.store(false, Order::Relaxed);
    log.flush_blocking().unwrap();
    assert_eq!(log.status().written, 4);
}
