//! A proxy between a part and the engine, which cuts and stalls connections.

use super::fault::Cut;
use crate::Failure;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::task::AbortOnDropHandle;

pub(super) struct Proxy {
    /// The port on which it listens.
    pub(super) port: u16,
    line: watch::Sender<Line>,
    _accepting: AbortOnDropHandle<()>,
}

/// The state of the connections.
#[derive(Clone, Copy, Debug)]
struct Line {
    stalled_until: Instant,
    /// The number of cuts so far, and how the last one was.
    cuts: u64,
    cut: Cut,
}

impl Proxy {
    /// A proxy to a port of this machine.
    ///
    /// # Errors
    /// It cannot listen.
    pub(super) async fn start(to: u16) -> Result<Self, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let line = Line { stalled_until: Instant::now(), cuts: 0, cut: Cut::Close };
        let (line, state) = watch::channel(line);
        let accepting = tokio::spawn(accept(listener, to, state));
        Ok(Self { port, line, _accepting: AbortOnDropHandle::new(accepting) })
    }

    /// Passes on nothing for a while, also on new connections.
    pub(super) fn stall(&self, time: Duration) {
        self.line.send_modify(|line| line.stalled_until = Instant::now() + time);
    }

    pub(super) fn is_stalled(&self) -> bool {
        Instant::now() < self.line.borrow().stalled_until
    }

    /// Ends the present connections.
    pub(super) fn cut(&self, cut: Cut) {
        self.line.send_modify(|line| (line.cuts, line.cut) = (line.cuts + 1, cut));
    }
}

async fn accept(listener: TcpListener, to: u16, line: watch::Receiver<Line>) {
    while let Ok((client, _)) = listener.accept().await {
        let line = line.clone();
        tokio::spawn(async move {
            // Without a server the client's connection ends, too.
            let Ok(server) = TcpStream::connect(("127.0.0.1", to)).await else { return };
            drop(pass_on(client, server, line).await);
        });
    }
}

/// Passes on what either side says, until one of them ends or the connection is cut.
async fn pass_on(
    mut client: TcpStream,
    mut server: TcpStream,
    mut line: watch::Receiver<Line>,
) -> io::Result<()> {
    let cuts = line.borrow_and_update().cuts;
    let (stalls, back) = (line.clone(), line.clone());
    let cut = {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        tokio::select! {
            ended = copy(from_client, to_server, stalls) => return ended,
            ended = copy(from_server, to_client, back) => return ended,
            line = line.wait_for(|line| line.cuts != cuts) => line.map(|line| line.cut),
        }
    };
    if matches!(cut, Ok(Cut::Reset)) {
        client.set_zero_linger()?;
        server.set_zero_linger()?;
    }
    Ok(())
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut line: watch::Receiver<Line>,
) -> io::Result<()> {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut bytes).await?;
        until_passed_on(&mut line).await;
        if count == 0 {
            return Ok(());
        }
        to.write_all(&bytes[..count]).await?;
    }
}

/// Waits while nothing is passed on.
async fn until_passed_on(line: &mut watch::Receiver<Line>) {
    loop {
        let until = line.borrow_and_update().stalled_until;
        if Instant::now() >= until {
            return;
        }
        sleep_until(until).await;
    }
}
