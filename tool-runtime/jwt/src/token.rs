//! The parts of a token (RFC 7515, compact serialization).

use crate::algorithm::Algorithm;
use crate::key::Key;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A token whose signature is not verified yet.
pub(crate) struct Token<'a> {
    header: Header,
    algorithm: Algorithm,
    /// The signed part.
    message: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that must be understood.
    crit: Option<Value>,
}

impl<'a> Token<'a> {
    /// # Errors
    /// The reason why it is not a signed token.
    pub(crate) fn parse(text: &'a str) -> Result<Self, &'static str> {
        let (message, signature) = text.rsplit_once('.').ok_or("it has no signature")?;
        let (header, payload) = message.split_once('.').ok_or("it has no claims")?;
        let header: Header = decode(header)
            .and_then(|json| serde_json::from_slice(&json).ok())
            .ok_or("its header is invalid")?;
        if header.crit.is_some() {
            return Err("it has critical extensions");
        }
        let algorithm = Algorithm::from_name(&header.alg).ok_or("its algorithm is not accepted")?;
        let signature = decode(signature).ok_or("its signature is not base64url")?;
        Ok(Self { header, algorithm, message, payload, signature })
    }

    /// Whether a key may have signed the token. A token without a key id fits all keys.
    pub(crate) fn fits(&self, key: &Key) -> bool {
        let Header { alg, kid, .. } = &self.header;
        key.algorithm.as_ref().is_none_or(|only| only == alg)
            && kid.as_ref().is_none_or(|kid| key.id.as_ref() == Some(kid))
    }

    /// The claims, if this key has signed them.
    pub(crate) fn claims(&self, key: &Key) -> Option<Map<String, Value>> {
        let message = self.message.as_bytes();
        if !self.algorithm.verify(&key.public, message, &self.signature) {
            return None;
        }
        serde_json::from_slice(&decode(self.payload)?).ok()
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::parse_keys;

    fn problem(header: &str) -> &'static str {
        let header = URL_SAFE_NO_PAD.encode(header);
        Token::parse(&format!("{header}.e30.AAAA")).err().unwrap_or("none")
    }

    #[test]
    fn a_token_without_a_public_key_algorithm_is_rejected() {
        assert_eq!(problem(r#"{"alg":"RS256"}"#), "none");
        for algorithm in ["none", "None", "HS256", "HS512", "rs256", ""] {
            let header = format!(r#"{{"alg":"{algorithm}"}}"#);
            assert_eq!(problem(&header), "its algorithm is not accepted", "{algorithm}");
        }
        assert_eq!(problem(r#"{"alg":"ES256","crit":["b64"]}"#), "it has critical extensions");
        assert_eq!(problem("{}"), "its header is invalid");
    }

    /// Keys and tokens made by jwcrypto 1.5, the Python library.
    const JWCRYPTO_TOKENS: &str = include_str!("tokens.json");

    #[test]
    fn signatures_of_another_library_are_verified() {
        let file: Value = serde_json::from_str(JWCRYPTO_TOKENS).expect("JSON");
        let keys = parse_keys(JWCRYPTO_TOKENS.as_bytes()).expect("keys");
        let tokens = file["tokens"].as_object().expect("tokens");
        assert_eq!((keys.len(), tokens.len()), (4, 9));
        for (algorithm, text) in tokens {
            let text = text.as_str().expect("a token");
            let token = Token::parse(text).expect(algorithm);
            let signers: Vec<&Key> =
                keys.iter().filter(|key| token.claims(key).is_some()).collect();
            assert_eq!(signers.len(), 1, "{algorithm}");
            assert!(token.fits(signers[0]), "{algorithm}");
            assert_eq!(token.claims(signers[0]).expect("claims")["alg"], algorithm.as_str());
            // The first character of the claims: another text with a valid shape.
            let changed = text.replacen(".e", ".f", 1);
            let changed = Token::parse(&changed).expect(algorithm);
            assert!(keys.iter().all(|key| changed.claims(key).is_none()), "{algorithm}");
        }
    }

    #[test]
    fn a_key_that_names_an_algorithm_verifies_no_other() {
        let mut key = parse_keys(JWCRYPTO_TOKENS.as_bytes()).expect("keys").remove(0);
        let token = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS512"}"#) + ".e30.AAAA";
        let token = Token::parse(&token).expect("a token");
        for (algorithm, fits) in [("RS512", true), ("RS256", false)] {
            key.algorithm = Some(algorithm.to_owned());
            assert_eq!(token.fits(&key), fits, "{algorithm}");
        }
    }

    #[test]
    fn a_text_of_another_shape_is_rejected() {
        for text in ["", "a", "a.b", ".", "..", "a.b.c.d", "é.é.é"] {
            assert!(Token::parse(text).is_err(), "{text}");
        }
    }
}
