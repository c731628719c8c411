//! Claims of a token: which ones are required, and the principal that they name.

use serde_json::{Map, Value};
use std::time::{Duration, SystemTime};
use tool_runtime_core::vocabulary::Principal;

/// The required claims.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) issuer: String,
    pub(crate) audiences: Vec<String>,
    /// The clock skew.
    pub(crate) leeway: Duration,
}

impl Expected {
    /// # Errors
    /// The reason why the token is not valid here and now.
    pub(crate) fn check(&self, claims: &Map<String, Value>) -> Result<(), String> {
        if claims.get("iss").and_then(Value::as_str) != Some(&self.issuer) {
            return Err("wrong issuer".to_owned());
        }
        let named = strings(claims.get("aud"));
        if !named.iter().any(|audience| self.audiences.iter().any(|own| own == audience)) {
            return Err(format!("it is for another audience: {named:?}"));
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let expires = seconds(claims, "exp")?.ok_or("it does not say when it expires")?;
        if expires + self.leeway.as_secs_f64() <= now.as_secs_f64() {
            return Err("it has expired".to_owned());
        }
        let begins = seconds(claims, "nbf")?.unwrap_or_default();
        if begins - self.leeway.as_secs_f64() > now.as_secs_f64() {
            return Err("it is not valid yet".to_owned());
        }
        Ok(())
    }
}

/// The subject, or the client that acts for itself. The scopes are in `scope` or `scp`.
///
/// # Errors
/// The token names neither.
pub(crate) fn principal(claims: Map<String, Value>) -> Result<Principal, &'static str> {
    let id = ["sub", "client_id", "azp"]
        .iter()
        .find_map(|claim| claims.get(*claim).and_then(Value::as_str).filter(|id| !id.is_empty()));
    let id = id.ok_or("it names neither a subject nor a client")?.to_owned();
    let scopes: Vec<String> = ["scope", "scp"]
        .iter()
        .flat_map(|claim| strings(claims.get(*claim)))
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect();
    Ok(Principal::new(id).with_scopes(scopes).with_claims(claims))
}

/// A string, or a list of strings.
fn strings(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A time, in seconds since 1970.
fn seconds(claims: &Map<String, Value>, name: &str) -> Result<Option<f64>, String> {
    let number =
        |value: &Value| value.as_f64().ok_or_else(|| format!("its `{name}` is not a number"));
    claims.get(name).map(number).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problem(change: &Value) -> Option<String> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let expected = Expected {
            issuer: "https://a".into(),
            audiences: vec!["b".into(), "c".into()],
            leeway: Duration::from_secs(3600),
        };
        let mut claims = json!({"iss": "https://a", "aud": "b", "exp": now + 6000, "nbf": now});
        for (name, value) in change.as_object().expect("claims") {
            claims[name] = match value.as_i64() {
                Some(offset) => json!(now as i64 + offset),
                None => value.clone(),
            };
        }
        expected.check(claims.as_object().expect("claims")).err()
    }

    #[test]
    fn claims_are_checked_with_leeway() {
        for valid in [
            json!({}),
            json!({"aud": ["x", "c"]}),
            json!({"exp": -1800}),
            json!({"nbf": 1800}),
            json!({"other": [1]}),
        ] {
            assert_eq!(problem(&valid), None, "{valid}");
        }
        for (invalid, reason) in [
            (json!({"iss": "https://a/"}), "issuer"),
            (json!({"iss": ["https://a"]}), "issuer"),
            (json!({"aud": "B"}), "audience"),
            (json!({"aud": []}), "audience"),
            (json!({"aud": null}), "audience"),
            (json!({"exp": -5400}), "expired"),
            (json!({"exp": "9999999999"}), "not a number"),
            (json!({"exp": null}), "not a number"),
            (json!({"nbf": 5400}), "not valid yet"),
            (json!({"nbf": "0"}), "not a number"),
        ] {
            let problem = problem(&invalid).unwrap_or_default();
            assert!(problem.contains(reason), "{invalid}: {problem}");
        }
    }

    #[test]
    fn a_principal_has_a_subject_and_scopes() {
        let principal_of = |claims: Value| principal(claims.as_object().cloned().expect("claims"));
        let ada =
            principal_of(json!({"sub": "ada", "scope": "a b", "scp": ["c"]})).expect("a principal");
        assert_eq!(
            (ada.id(), ada.scopes()),
            ("ada", ["a", "b", "c"].map(str::to_owned).as_slice())
        );
        assert_eq!(ada.claims()["scp"], json!(["c"]));
        assert_eq!(
            principal_of(json!({"sub": "", "client_id": "ci"})).expect("a client").id(),
            "ci"
        );
        assert!(principal_of(json!({"sub": 7})).is_err());
    }
}
