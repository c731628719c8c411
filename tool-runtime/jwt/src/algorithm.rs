//! Signature algorithms.

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, EcdsaVerificationAlgorithm,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters,
};

/// An algorithm with a public key. Those with a shared secret are not accepted: keys of an issuer are
/// public.
#[derive(Clone, Copy)]
pub(crate) enum Algorithm {
    Rsa(&'static RsaParameters),
    Ecdsa(&'static EcdsaVerificationAlgorithm, Curve),
    Ed25519,
}

/// The curve of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Curve {
    P256,
    P384,
    Ed25519,
}

impl Algorithm {
    /// The algorithm of the `alg` of a token.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rsa(&RSA_PKCS1_2048_8192_SHA256),
            "RS384" => Self::Rsa(&RSA_PKCS1_2048_8192_SHA384),
            "RS512" => Self::Rsa(&RSA_PKCS1_2048_8192_SHA512),
            "PS256" => Self::Rsa(&RSA_PSS_2048_8192_SHA256),
            "PS384" => Self::Rsa(&RSA_PSS_2048_8192_SHA384),
            "PS512" => Self::Rsa(&RSA_PSS_2048_8192_SHA512),
            "ES256" => Self::Ecdsa(&ECDSA_P256_SHA256_FIXED, Curve::P256),
            "ES384" => Self::Ecdsa(&ECDSA_P384_SHA384_FIXED, Curve::P384),
            "EdDSA" | "Ed25519" => Self::Ed25519,
            _ => return None,
        })
    }

    /// Verifies a signature by a key, which must fit.
    pub(crate) fn verify(self, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey};
        let verified = match (self, key) {
            (Self::Rsa(parameters), PublicKey::Rsa { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Self::Ecdsa(algorithm, curve), PublicKey::Point(of, point)) if curve == *of => {
                UnparsedPublicKey::new(algorithm, point).verify(message, signature)
            }
            (Self::Ed25519, PublicKey::Point(Curve::Ed25519, point)) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
            _ => return false,
        };
        verified.is_ok()
    }
}

/// The numbers of a public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PublicKey {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    Point(Curve, Vec<u8>),
}
