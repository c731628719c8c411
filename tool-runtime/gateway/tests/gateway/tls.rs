//! TLS, with a certificate that is renewed.

use crate::serving::HTTP;
use crate::support::{Folder, Server, exchange};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::net::TcpStream;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// Writes a new certificate and its key, and returns it.
fn write_pair(folder: &Folder) -> CertificateDer<'static> {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    folder.write("server.pem", &cert.pem());
    folder.write("server.key", &signing_key.serialize_pem());
    cert.der().clone()
}

/// Asks for the health of a server whose certificate must be this one.
fn health(server: &Server, trusted: CertificateDer<'static>) -> Option<(u16, String)> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).expect("a certificate");
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let mut connection = ClientConnection::new(Arc::new(config), name).expect("a connection");
    let mut socket = TcpStream::connect(server.address).expect("it listens");
    connection.complete_io(&mut socket).ok()?;
    let mut stream = StreamOwned::new(connection, socket);
    Some(exchange(&mut stream, server.address, "GET /healthz HTTP/1.1\r\n", ""))
}

#[cfg(unix)]
#[test]
fn a_renewed_certificate_counts_without_a_restart() {
    let folder =
        Folder::new(&HTTP.replace(
            "[tools]",
            "tls = { certificate = 'server.pem', key = 'server.key' }\n[tools]",
        ));
    folder.write("tokens", "ada:8fQm2x1vXk9pTz\n");
    let first = write_pair(&folder);
    let server = Server::start(&folder);
    assert_eq!(health(&server, first.clone()), Some((200, "ok\n".to_owned())));
    let second = write_pair(&folder);
    assert_eq!(health(&server, second.clone()), None, "it was not read yet");
    server.signal(rustix::process::Signal::HUP);
    server.line("the configuration was read again");
    assert_eq!(health(&server, second), Some((200, "ok\n".to_owned())));
    assert_eq!(health(&server, first), None);
}

#[test]
fn files_without_a_certificate_are_reported() {
    let folder =
        Folder::new(&HTTP.replace(
            "[tools]",
            "tls = { certificate = 'server.pem', key = 'server.key' }\n[tools]",
        ));
    folder.write("tokens", "ada:8fQm2x1vXk9pTz\n");
    write_pair(&folder);
    folder.ok(&["check"]);
    let key = std::fs::read_to_string(folder.path("server.key")).expect("a key");
    write_pair(&folder);
    folder.write("server.key", &key);
    let (_, text) = folder.run(&["check"]);
    assert!(
        text.contains("the key in `server.key` does not fit the certificate in `server.pem`"),
        "{text}"
    );
    folder.write("server.pem", "nothing");
    let (_, text) = folder.run(&["check"]);
    assert!(
        text.contains("the certificate in `server.pem`: the file has no certificate in PEM"),
        "{text}"
    );
    let (code, text) = folder.run(&["serve", "--http", "0", "--tls-cert", "server.pem"]);
    assert_eq!(code, 2);
    assert!(text.contains("--tls-key"), "{text}");
}
