//! Keys of an issuer (RFC 7517).

use crate::algorithm::{Curve, PublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;

/// Limit on the keys of an issuer.
const MAX_KEYS: usize = 100;

/// A key that verifies signatures.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) id: Option<String>,
    /// The only algorithm of the key, if it names one.
    pub(crate) algorithm: Option<String>,
    pub(crate) public: PublicKey,
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The keys of a set that verify signatures. Keys of other kinds are left out.
///
/// # Errors
/// The text is not a key set.
pub(crate) fn parse_keys(json: &[u8]) -> Result<Vec<Key>, String> {
    let set: KeySet =
        serde_json::from_slice(json).map_err(|error| format!("not a JSON Web Key Set: {error}"))?;
    let keys = set.keys.into_iter().take(MAX_KEYS);
    Ok(keys.filter_map(|key| serde_json::from_value::<Jwk>(key).ok()?.key()).collect())
}

impl Jwk {
    fn key(self) -> Option<Key> {
        if self.usage.as_ref().is_some_and(|usage| usage != "sig") {
            return None;
        }
        let public = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", None) => PublicKey::Rsa { n: number(&self.n)?, e: number(&self.e)? },
            ("EC", Some("P-256")) => PublicKey::Point(Curve::P256, self.point(32)?),
            ("EC", Some("P-384")) => PublicKey::Point(Curve::P384, self.point(48)?),
            ("OKP", Some("Ed25519")) => PublicKey::Point(Curve::Ed25519, bytes(&self.x)?),
            _ => return None,
        };
        Some(Key { id: self.kid, algorithm: self.alg, public })
    }

    /// The uncompressed point: `4`, x, y.
    fn point(&self, length: usize) -> Option<Vec<u8>> {
        let (x, y) = (bytes(&self.x)?, bytes(&self.y)?);
        let is_sound = x.len() == length && y.len() == length;
        is_sound.then(|| [&[4], x.as_slice(), &y].concat())
    }
}

fn bytes(text: &Option<String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text.as_ref()?).ok()
}

/// A number without leading zeros: some issuers write one, and `ring` rejects it.
fn number(text: &Option<String>) -> Option<Vec<u8>> {
    let bytes = bytes(text)?;
    let start = bytes.iter().position(|byte| *byte != 0)?;
    Some(bytes[start..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::parse_keys;
    use serde_json::json;

    #[test]
    fn keys_that_verify_nothing_are_left_out() {
        let point = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
        let keys = json!({"keys": [
            {"kty": "EC", "crv": "P-256", "kid": "a", "x": point, "y": point},
            {"kty": "EC", "crv": "P-256", "kid": "short", "x": "AAEC", "y": point},
            {"kty": "EC", "crv": "P-521", "kid": "curve", "x": point, "y": point},
            {"kty": "EC", "crv": "P-256", "use": "enc", "x": point, "y": point},
            {"kty": "oct", "k": point},
            {"kty": "OKP", "crv": "Ed25519", "kid": "b", "use": "sig", "x": point},
            {"kty": "RSA", "kid": "c", "n": "AAEC", "e": "AQAB", "alg": "RS256"},
            {"kty": 7}, null,
        ]});
        let keys = parse_keys(keys.to_string().as_bytes()).expect("a set");
        let ids: Vec<_> = keys.iter().filter_map(|key| key.id.as_deref()).collect();
        assert_eq!(ids, ["a", "b", "c"]);
        assert!(
            parse_keys(b"{}").unwrap_err().starts_with("not a JSON Web Key Set: missing field")
        );
    }
}
