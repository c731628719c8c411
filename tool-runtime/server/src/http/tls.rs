//! TLS with a certificate that may be renewed.

use arc_swap::ArcSwap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tool_runtime_core::seam::lock;

/// The pause between looks at the files.
const INTERVAL: Duration = Duration::from_secs(10);

/// The certificate and the key of a server, in two PEM files. Clones share them.
///
/// The files are read again when they have changed: a connection looks, at most every ten seconds, so that a renewed
/// certificate counts without a restart. Files with mistakes change nothing, and are logged.
///
/// ```no_run
/// use tool_runtime::http::{HttpOptions, Tls};
///
/// let options = HttpOptions::default().tls(Tls::from_files("server.pem", "server.key")?);
/// # let _ = options;
/// # Ok::<(), tool_runtime::http::TlsError>(())
/// ```
#[derive(Clone)]
pub struct Tls(Arc<Files>);

struct Files {
    certificate: PathBuf,
    key: PathBuf,
    current: ArcSwap<ServerConfig>,
    looked: Mutex<Looked>,
}

/// The last look at the files.
struct Looked {
    at: Instant,
    state: State,
}

/// The times of the files' last changes.
type State = [Option<SystemTime>; 2];

/// The reason why files cannot be used for TLS.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read, or has no certificate or key in PEM.
    #[error("the {what} in `{}`: {reason}", path.display())]
    File {
        /// `certificate` or `key`.
        what: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// The key does not belong to the certificate, or is of an unknown kind.
    #[error("the key in `{}` does not fit the certificate in `{}`: {reason}", key.display(), certificate.display())]
    Pair {
        /// The path of the certificate.
        certificate: PathBuf,
        /// The path of the key.
        key: PathBuf,
        /// The cause.
        reason: String,
    },
}

tool_runtime_core::debug_as_message!(TlsError);

impl Tls {
    /// Reads a certificate, with the certificates of its issuers, and its key.
    ///
    /// # Errors
    /// A file cannot be read or is not PEM, or the key does not fit.
    pub fn from_files(
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Result<Self, TlsError> {
        let (certificate, key) = (certificate.into(), key.into());
        let state = state(&certificate, &key);
        let current = ArcSwap::from_pointee(read(&certificate, &key)?);
        let looked = Mutex::new(Looked { at: Instant::now(), state });
        Ok(Self(Arc::new(Files { certificate, key, current, looked })))
    }

    /// Reads the files again.
    ///
    /// # Errors
    /// As [`Self::from_files`]. The certificate of before stays.
    pub fn reload(&self) -> Result<(), TlsError> {
        let Files { certificate, key, current, looked } = &*self.0;
        let mut looked = lock(looked);
        *looked = Looked { at: Instant::now(), state: state(certificate, key) };
        current.store(Arc::new(read(certificate, key)?));
        Ok(())
    }

    /// For a new connection.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        if self.is_changed()
            && let Err(error) = self.reload()
        {
            tracing::error!("the certificate is not replaced by its new version: {error}");
        }
        TlsAcceptor::from(self.0.current.load_full())
    }

    fn is_changed(&self) -> bool {
        let Files { certificate, key, looked, .. } = &*self.0;
        let mut looked = lock(looked);
        if looked.at.elapsed() < INTERVAL {
            return false;
        }
        looked.at = Instant::now();
        looked.state != state(certificate, key)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("certificate", &self.0.certificate).finish_non_exhaustive()
    }
}

fn state(certificate: &Path, key: &Path) -> State {
    [certificate, key].map(|path| std::fs::metadata(path).and_then(|it| it.modified()).ok())
}

fn read(certificate: &Path, key: &Path) -> Result<ServerConfig, TlsError> {
    let wrong = |what, path: &Path| {
        let path = path.to_owned();
        move |error: pem::Error| TlsError::File { what, path, reason: reason(what, &error) }
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(|certificates| certificates.collect::<Result<Vec<_>, _>>())
        .and_then(|chain| if chain.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(chain) })
        .map_err(wrong("certificate", certificate))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(wrong("key", key))?;
    let pair = |error: tokio_rustls::rustls::Error| TlsError::Pair {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        reason: error.to_string(),
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(pair)?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(pair)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn reason(what: &str, error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => format!("the file has no {what} in PEM"),
        pem::Error::Io(error) => format!("the file cannot be read: {error}"),
        other => format!("the file is not PEM: {other}"),
    }
}
