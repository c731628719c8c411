//! Keys of callers and runners.

use async_nats::ConnectOptions;
use nkeys::{KeyPair, KeyPairType};
use std::fmt;
use std::path::Path;

/// The NKEY of a caller or of the runners of a queue: an Ed25519 key, by which a server knows them. The server has only the
/// public part.
#[derive(Clone)]
pub struct NatsKey {
    seed: String,
    public: String,
}

impl NatsKey {
    /// A new key.
    ///
    /// # Panics
    /// The operating system gives no random numbers.
    pub fn random() -> Self {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system gives random numbers");
        let pair = KeyPair::new_from_raw(KeyPairType::User, bytes);
        Self::from_pair(&pair.expect("a seed has 32 bytes")).expect("a new key has a seed")
    }

    /// Reads a file with the seed.
    ///
    /// # Errors
    /// The file cannot be read, or has no seed of a user.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, String> {
        let file = file.as_ref();
        let text = std::fs::read_to_string(file);
        let text = text.map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
        Self::of_seed(&text).ok_or_else(|| {
            format!("`{}` has no seed of an NKEY of a user, such as `SUA..`", file.display())
        })
    }

    fn of_seed(text: &str) -> Option<Self> {
        let pair = KeyPair::from_seed(text.trim()).ok()?;
        (pair.key_pair_type() == KeyPairType::User).then(|| Self::from_pair(&pair))?
    }

    fn from_pair(pair: &KeyPair) -> Option<Self> {
        Some(Self { seed: pair.seed().ok()?, public: pair.public_key() })
    }

    /// The secret part.
    pub fn seed(&self) -> &str {
        &self.seed
    }

    /// The public part, `U..`.
    pub fn public(&self) -> &str {
        &self.public
    }
}

/// Without the secret.
impl fmt::Debug for NatsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NatsKey").field(&self.public).finish()
    }
}

/// Options with the credentials of a file: a JWT with its seed, or the seed of an NKEY.
pub(super) fn with_credentials(file: &Path) -> Result<ConnectOptions, String> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
    if text.contains("BEGIN NATS USER JWT") {
        let jwt = ConnectOptions::new().credentials(&text);
        return jwt.map_err(|error| format!("`{}` is damaged: {error}", file.display()));
    }
    let Some(key) = NatsKey::of_seed(&text) else {
        return Err(format!(
            "`{}` has no credentials; write the seed of an NKEY into it, such as `SUA..`, or a JWT with its seed",
            file.display()
        ));
    };
    Ok(ConnectOptions::new().nkey(key.seed))
}
