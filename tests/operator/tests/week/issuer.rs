//! An issuer of JSON Web Tokens on this machine.

use axum::Router;
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use tokio::net::TcpListener;

/// A key of the issuer.
pub(crate) struct Key(EcdsaKeyPair);

impl Key {
    pub(crate) fn new() -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap())
    }

    pub(crate) fn jwk(&self, id: &str) -> Value {
        let (x, y) = self.0.public_key().as_ref()[1..].split_at(32);
        json!({ "kty": "EC", "crv": "P-256", "use": "sig", "kid": id, "x": BASE64.encode(x), "y": BASE64.encode(y) })
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let message = [header, claims].map(|part| BASE64.encode(part.to_string())).join(".");
        let signature = self.0.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", BASE64.encode(signature))
    }
}

/// Serves its metadata and keys.
pub(crate) struct Issuer {
    pub(crate) url: String,
    keys: Arc<Mutex<Vec<Value>>>,
}

impl Issuer {
    pub(crate) async fn start(keys: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(keys));
        let served = Arc::clone(&keys);
        let metadata = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") }).to_string();
        let keys_now = async move || json!({ "keys": *served.lock().unwrap() }).to_string();
        let app = Router::new()
            .route("/.well-known/openid-configuration", get(async move || metadata))
            .route("/keys", get(keys_now));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, keys }
    }

    pub(crate) fn set_keys(&self, keys: Vec<Value>) {
        *self.keys.lock().unwrap() = keys;
    }

    /// A token for a caller, valid for an hour.
    pub(crate) fn token(&self, key: &Key, id: &str, name: &str, scope: &str) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let claims = json!({
            "iss": self.url, "aud": "https://tools.example.com/mcp", "sub": name, "scope": scope,
            "exp": now + 3600,
        });
        key.sign(&json!({ "alg": "ES256", "typ": "at+jwt", "kid": id }), &claims)
    }
}
