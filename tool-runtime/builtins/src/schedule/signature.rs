//! The signature of a delivery, by Standard Webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The bytes of a key: of `whsec_..` those that its base64 means.
pub(super) fn key_bytes(key: &str) -> Result<Vec<u8>, String> {
    match key.strip_prefix("whsec_") {
        Some(encoded) => {
            STANDARD.decode(encoded).map_err(|_| "is not base64 after `whsec_`".to_owned())
        }
        None => Ok(key.as_bytes().to_vec()),
    }
}

/// The value of `webhook-signature`: HMAC-SHA256 over id, timestamp and body, separated by dots.
pub(super) fn sign(key: &[u8], id: &str, timestamp: i64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification of Standard Webhooks.
    #[test]
    fn a_signature_is_that_of_the_specification() {
        let key = key_bytes("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature =
            sign(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
