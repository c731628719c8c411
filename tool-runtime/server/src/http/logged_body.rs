//! A response body whose end is logged.

use super::access::Access;
use axum::body::{Body, Bytes};
use http_body::{Body as _, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A body at whose end the line about its request is logged. One that is dropped before has lost its client.
pub(super) fn logged(body: Body, access: Access) -> Body {
    Body::new(Logged { body, access })
}

struct Logged {
    body: Body,
    access: Access,
}

impl http_body::Body for Logged {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() {
            self.access.log();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        // A body that says so is not polled to its end.
        if self.body.is_end_stream() {
            self.access.log();
        }
    }
}
