//! A hub behind a proxy with TLS, whose certificate is of a private authority.

use super::fleet::{pool, text};
use super::hub::TestHub;
use crate::{Board as _, BoardError, HttpBoard, HttpBoardOptions, LEASE, Remote, Runner};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use std::env;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tool_runtime::{Tool, tool};
use tool_runtime_core::tool::ToolCall;
use tool_runtime_core::vocabulary::CancellationToken;

/// The address of the proxy, for a test that is started again as the client.
const PROXY: &str = "TEST_TLS_PROXY";

/// The certificate of an authority, and a server that shows one of its own.
fn authority() -> (String, TlsAcceptor) {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|it| it.with_no_client_auth().with_single_cert(vec![certificate.into()], key));
    (authority.pem(), TlsAcceptor::from(Arc::new(config.unwrap())))
}

/// Passes on to the hub what comes by TLS.
async fn proxy(acceptor: TlsAcceptor, hub: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that does not trust the certificate disconnects.
                let Ok(mut client) = acceptor.accept(stream).await else { return };
                let mut server = TcpStream::connect(hub).await.unwrap();
                drop(copy_bidirectional(&mut client, &mut server).await);
            });
        }
    });
    address
}

/// Runs a test again as the client of a proxy, in a process of its own: its environment says what it trusts.
async fn run_client(test: &str, proxy: SocketAddr, trusted: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, trusted).unwrap();
    let mut client = Command::new(env::current_exe().unwrap());
    client.args(["--exact", &format!("tests::tls::{test}")]);
    client.env(PROXY, proxy.to_string()).env("SSL_CERT_FILE", file).env_remove("SSL_CERT_DIR");
    let ended = tokio::task::spawn_blocking(move || client.output()).await.unwrap().unwrap();
    let output = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && output.contains("1 passed"), "{output}");
}

async fn connect(proxy: &str, name: &str) -> Result<HttpBoard, BoardError> {
    let options = HttpBoardOptions::default().token(format!("token-of-{name}"));
    HttpBoard::connect(&format!("https://{proxy}"), options).await
}

/// Sign in.
#[tool]
async fn sign_in(
    /// The password.
    #[arg(secret)]
    password: String,
) -> usize {
    password.len()
}

#[tokio::test]
async fn secrets_pass_over_tls_with_the_certificate_of_a_private_authority() {
    if let Ok(proxy) = env::var(PROXY) {
        return call_by_tls(&proxy).await;
    }
    let hub = TestHub::start(LEASE).await;
    let (authority, acceptor) = authority();
    let proxy = proxy(acceptor, hub.address).await;
    let test = "secrets_pass_over_tls_with_the_certificate_of_a_private_authority";
    run_client(test, proxy, &authority).await;
}

async fn call_by_tls(proxy: &str) {
    let board = connect(proxy, "runner1").await.unwrap();
    let (served, end) = (pool([Tool::from_action::<SignInAction>()]), CancellationToken::new());
    let (runner, token) = (Runner::new(board).queue("web".parse().unwrap()), end.clone());
    let running = tokio::spawn(async move { runner.serve_until(&served, &token).await });
    let pool = pool([]);
    let board = connect(proxy, "pool1").await.unwrap();
    assert!(board.is_confidential());
    let remote = Remote::builder(board).connect(&pool).await.unwrap();
    let call = ToolCall::new("sign_in", r#"{ "password": "hunter2" }"#);
    assert_eq!(text(&pool.call(call).await), "7");
    remote.close().await;
    end.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_named() {
    if let Ok(proxy) = env::var(PROXY) {
        let error = connect(&proxy, "pool1").await.expect_err("it is not trusted").to_string();
        assert!(error.contains(&format!("the hub at https://{proxy}")), "{error}");
        assert!(error.contains("certificate"), "{error}");
        return;
    }
    let hub = TestHub::start(LEASE).await;
    let ((_, acceptor), (other, _)) = (authority(), authority());
    let proxy = proxy(acceptor, hub.address).await;
    run_client("a_certificate_that_nobody_vouches_for_is_named", proxy, &other).await;
}
