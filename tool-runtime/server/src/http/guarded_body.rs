//! A response body that holds resources until it is sent.

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A body that holds a value until its end, such as a permit of a request in flight.
pub(super) fn guarded<T: Send + Unpin + 'static>(body: Body, guard: T) -> Body {
    Body::new(Guarded { body, _guard: guard })
}

struct Guarded<T> {
    body: Body,
    _guard: T,
}

impl<T: Unpin> http_body::Body for Guarded<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
