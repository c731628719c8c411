//! Servers over HTTPS, used by the gateway as its users start it.

use super::remote_server::{Probe, RemoteServer, pass_through, tools};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::json;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, id};
use std::sync::Arc;
use std::time::Duration;
use suite::built::built;
use suite::process::{Ended, run};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tool_runtime::http::HttpOptions;

const LIMIT: Duration = Duration::from_secs(60);

/// Temporary files for a program.
struct Files {
    servers: PathBuf,
    certificate: PathBuf,
}

impl Files {
    fn write(address: SocketAddr, certificate: &str) -> Self {
        let path = |name: &str| std::env::temp_dir().join(format!("tls-{}-{name}", id()));
        let files = Self { servers: path("servers.json"), certificate: path("certificate.pem") };
        let entry = json!({ "remote": { "url": format!("https://{address}/mcp") } });
        std::fs::write(&files.servers, entry.to_string()).expect("a file");
        std::fs::write(&files.certificate, certificate).expect("a file");
        files
    }

    /// Runs the gateway with trust in the certificates of a file or of the system.
    fn gateway(&self, words: &[&str], trusted: Option<&Path>) -> Ended {
        let mut command = Command::new(built("gateway"));
        command.arg("--mcp-config").arg(&self.servers).args(words).env_remove("SSL_CERT_DIR");
        match trusted {
            Some(file) => command.env("SSL_CERT_FILE", file),
            None => command.env_remove("SSL_CERT_FILE"),
        };
        run(&mut command, LIMIT).expect("the gateway starts")
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for file in [&self.servers, &self.certificate] {
            std::fs::remove_file(file).expect("written before");
        }
    }
}

/// Terminates TLS before a server without it.
async fn front(listener: TcpListener, acceptor: TlsAcceptor, behind: SocketAddr) {
    loop {
        let (stream, _) = listener.accept().await.expect("an open port");
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // A client that does not trust the certificate disconnects.
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let mut server = TcpStream::connect(behind).await.expect("it listens");
            drop(copy_bidirectional(&mut stream, &mut server).await);
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_requires_a_trusted_certificate() {
    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), pass_through);
    let names = ["127.0.0.1".to_owned()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).expect("a name");
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der()).into();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key)
        });
    let acceptor = TlsAcceptor::from(Arc::new(config.expect("a certificate and its key")));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let files = Files::write(listener.local_addr().expect("bound"), &cert.pem());
    let front = tokio::spawn(front(listener, acceptor, remote.address));

    let checked = tokio::task::spawn_blocking(move || {
        let trusting = files.gateway(&["call", "remote.hit"], Some(&files.certificate));
        assert_eq!(trusting.output.trim(), "1", "{}", trusting.described());
        let distrusting = files.gateway(&["doctor"], None);
        assert!(
            distrusting.output.contains("its certificate is not trusted"),
            "{}",
            distrusting.described()
        );
    });
    checked.await.expect("no panic");
    front.abort();
}
