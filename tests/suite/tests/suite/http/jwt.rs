//! JSON Web Tokens of an issuer that rotates its keys.

use super::client::{Answer, RawRequest};
use super::program::{Program, command};
use super::test_server::TestServer;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;
use tool_runtime::Principal;
use tool_runtime::http::{HttpOptions, JwtVerifier, JwtVerifierBuilder, ProtectedResource};
use tool_runtime::prelude::*;

/// The audience of the tokens.
const SERVER: &str = "https://notes.example.com/mcp";

/// A key of the issuer.
struct Key(EcdsaKeyPair);

impl Key {
    fn new() -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        Self(EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).expect("a key"))
    }

    fn jwk(&self, id: &str) -> Value {
        let (x, y) = self.0.public_key().as_ref()[1..].split_at(32);
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "kid": id,
            "x": BASE64.encode(x), "y": BASE64.encode(y)})
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let parts = [header, claims].map(|part| BASE64.encode(part.to_string()));
        let message = parts.join(".");
        let signature = self.0.sign(&SystemRandom::new(), message.as_bytes()).expect("a signature");
        format!("{message}.{}", BASE64.encode(signature))
    }
}

/// An issuer on this machine.
struct Issuer {
    url: String,
    keys: Arc<Mutex<Vec<Value>>>,
    fetched: Arc<AtomicUsize>,
}

impl Issuer {
    async fn start(keys: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (keys, fetched) = (Arc::new(Mutex::new(keys)), Arc::new(AtomicUsize::new(0)));
        let metadata = json!({"issuer": url, "jwks_uri": format!("{url}/keys")}).to_string();
        let (served, count) = (Arc::clone(&keys), Arc::clone(&fetched));
        let app = Router::new()
            .route("/.well-known/openid-configuration", get(async move || metadata))
            .route(
                "/keys",
                get(async move || {
                    count.fetch_add(1, Ordering::SeqCst);
                    let keys = served.lock().expect("no panic").clone();
                    match keys.is_empty() {
                        true => Err(StatusCode::BAD_GATEWAY),
                        false => Ok(json!({ "keys": keys }).to_string()),
                    }
                }),
            );
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, keys, fetched }
    }

    fn set_keys(&self, keys: Vec<Value>) {
        *self.keys.lock().expect("no panic") = keys;
    }

    fn fetches(&self) -> usize {
        self.fetched.load(Ordering::SeqCst)
    }

    /// Valid claims.
    fn claims(&self) -> Value {
        json!({"iss": self.url, "aud": SERVER, "sub": "ada", "exp": now() + 600, "scope": "notes:read"})
    }

    fn verifier(&self) -> JwtVerifierBuilder {
        JwtVerifier::builder(&self.url).audience(SERVER)
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs()
}

fn header(id: &str) -> Value {
    json!({"alg": "ES256", "typ": "at+jwt", "kid": id})
}

async fn call(served: &TestServer, tool: &str, token: &str) -> Answer {
    let call = RawRequest::call(1, tool).with("authorization", &format!("Bearer {token}"));
    served.request(&call).await
}

fn text(answer: &Answer) -> String {
    answer.json()["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// Read the notes.
#[tool(register = false, read_only, scope = "notes:read")]
async fn read_notes(caller: &Principal) -> String {
    caller.claims()["sub"].as_str().unwrap_or_default().to_owned()
}

/// Delete the notes.
#[tool(register = false, scope = "notes:write")]
async fn delete_notes() {}

async fn serve(verifier: JwtVerifierBuilder, issuer: &Issuer) -> TestServer {
    let resource = ProtectedResource::new(SERVER).authorization_server(&issuer.url);
    let options = HttpOptions::default()
        .auth(verifier.build().expect("a verifier"))
        .protected_resource(resource.scopes(["profile"]));
    let tools = |pool: tool_runtime::ToolPoolBuilder| {
        pool.tool::<ReadNotesAction>().tool::<DeleteNotesAction>()
    };
    TestServer::start_with(options, tools).await
}

#[tokio::test]
async fn a_token_names_the_caller_and_the_scopes() {
    let key = Key::new();
    let issuer = Issuer::start(vec![key.jwk("k1")]).await;
    let served = serve(issuer.verifier(), &issuer).await;
    let token = key.sign(&header("k1"), &issuer.claims());
    assert_eq!(text(&call(&served, "read_notes", &token).await), "ada");
    assert_eq!(text(&call(&served, "whoami", &token).await), "ada");
    let denied = call(&served, "delete_notes", &token).await;
    assert_eq!(denied.status(), 403);
    let challenge = denied.head.header("www-authenticate").to_owned();
    assert!(
        challenge.contains(r#"error="insufficient_scope", scope="notes:write""#),
        "{challenge}"
    );
    assert_eq!(issuer.fetches(), 1, "the keys are kept");
}

#[tokio::test]
async fn an_invalid_token_is_rejected() {
    let (key, other) = (Key::new(), Key::new());
    let issuer = Issuer::start(vec![key.jwk("k1")]).await;
    let served = serve(issuer.verifier(), &issuer).await;
    let with = |name: &str, value: Value| {
        let mut claims = issuer.claims();
        claims[name] = value;
        key.sign(&header("k1"), &claims)
    };
    let valid = key.sign(&header("k1"), &issuer.claims());
    let (message, signature) = valid.rsplit_once('.').expect("a signature");
    let (_, claims) = message.split_once('.').expect("claims");
    let unsigned = BASE64.encode(r#"{"alg":"none"}"#);
    let symmetric = BASE64.encode(r#"{"alg":"HS256","kid":"k1"}"#);
    for (problem, token) in [
        ("expired", with("exp", json!(now() - 120))),
        ("without an end", with("exp", Value::Null)),
        ("not valid yet", with("nbf", json!(now() + 120))),
        ("for another server", with("aud", json!("https://other.example.com"))),
        ("wrong issuer", with("iss", json!("https://login.example.com"))),
        ("without a subject", with("sub", json!(""))),
        ("signed by another key", other.sign(&header("k1"), &issuer.claims())),
        ("of an unknown key", key.sign(&header("k9"), &issuer.claims())),
        ("of another algorithm", key.sign(&json!({"alg": "ES384", "kid": "k1"}), &issuer.claims())),
        ("unsigned", format!("{unsigned}.{claims}.")),
        ("with a shared secret", format!("{symmetric}.{claims}.{signature}")),
        ("changed", format!("{}.{signature}", message.replacen('e', "f", 1))),
        ("cut", message.to_owned()),
        ("empty", String::new()),
    ] {
        let answer = call(&served, "whoami", &token).await;
        assert_eq!(answer.status(), 401, "{problem}");
        let challenge = answer.head.header("www-authenticate").to_owned();
        let metadata = "https://notes.example.com/.well-known/oauth-protected-resource/mcp";
        assert!(challenge.contains(metadata), "{problem}: {challenge}");
    }
    assert_eq!(text(&call(&served, "whoami", &valid).await), "ada");
}

#[tokio::test]
async fn new_keys_are_fetched_and_old_ones_kept_meanwhile() {
    let (first, second) = (Key::new(), Key::new());
    let issuer = Issuer::start(vec![first.jwk("k1")]).await;
    let served = serve(issuer.verifier().max_key_age(Duration::ZERO), &issuer).await;
    let old = first.sign(&header("k1"), &issuer.claims());
    assert_eq!(call(&served, "whoami", &old).await.status(), 200);
    issuer.set_keys(Vec::new());
    assert_eq!(call(&served, "whoami", &old).await.status(), 200, "the issuer is down");

    let served = serve(issuer.verifier(), &issuer).await;
    assert_eq!(call(&served, "whoami", &old).await.status(), 503);
    issuer.set_keys(vec![second.jwk("k2")]);
    let served = serve(issuer.verifier(), &issuer).await;
    let new = second.sign(&header("k2"), &issuer.claims());
    assert_eq!(call(&served, "whoami", &new).await.status(), 200);
    assert_eq!(call(&served, "whoami", &old).await.status(), 401, "its key is withdrawn");
    let fetches = issuer.fetches();
    for id in 0..20 {
        let unknown = second.sign(&header(&format!("x{id}")), &issuer.claims());
        assert_eq!(call(&served, "whoami", &unknown).await.status(), 401);
    }
    assert_eq!(issuer.fetches(), fetches, "callers cannot make the server fetch keys often");
}

#[tokio::test]
async fn scopes_can_be_required_of_all_tokens() {
    let key = Key::new();
    let issuer = Issuer::start(vec![key.jwk("k1")]).await;
    let keys = json!({ "keys": [key.jwk("k1")] }).to_string();
    let verifier = issuer.verifier().jwks(keys).required_scopes(["mcp"]);
    let served = serve(verifier, &issuer).await;
    let mut claims = issuer.claims();
    assert_eq!(call(&served, "whoami", &key.sign(&header("k1"), &claims)).await.status(), 403);
    claims["scope"] = json!("mcp");
    // A token without a key id fits every key.
    let token = key.sign(&json!({"alg": "ES256"}), &claims);
    assert_eq!(text(&call(&served, "whoami", &token).await), "ada");
    assert_eq!(issuer.fetches(), 0);
}

#[tokio::test]
async fn the_server_describes_itself_to_clients() {
    let issuer = Issuer::start(Vec::new()).await;
    let served = serve(issuer.verifier(), &issuer).await;
    for path in
        ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
    {
        let answer = served.request(&RawRequest::new("GET", path)).await;
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(answer.head.header("access-control-allow-origin"), "*");
        assert_eq!(
            answer.json(),
            json!({
                "resource": SERVER,
                "authorization_servers": [issuer.url],
                "scopes_supported": ["notes:read", "notes:write", "profile"],
                "bearer_methods_supported": ["header"],
            })
        );
    }
}

#[tokio::test]
async fn the_command_line_names_an_issuer() {
    let key = Key::new();
    let issuer = Issuer::start(vec![key.jwk("k1")]).await;
    let flags = ["--http", "0", "--auth-jwt-issuer", &issuer.url, "--auth-jwt-audience", SERVER];
    let program = Program::start(&mut command(&flags)).await;
    let call = RawRequest::call(1, "numbers");
    assert_eq!(program.request(&call).await, 401);
    let token = key.sign(&header("k1"), &issuer.claims());
    let call = call.with("authorization", &format!("Bearer {token}"));
    assert_eq!(program.request(&call).await, 200);
    let metadata = RawRequest::new("GET", "/.well-known/oauth-protected-resource/mcp");
    assert_eq!(program.request(&metadata).await, 200);
}
