//! Keys that sign what the tests' registries release.

use std::io::Write;
use std::time::{Duration, SystemTime};

use openpgp::cert::CertBuilder;
use openpgp::parse::Parse;
use openpgp::policy::StandardPolicy;
use openpgp::serialize::SerializeInto;
use openpgp::serialize::stream::{Message, Signer};
use openpgp::types::KeyFlags;
use sequoia_openpgp as openpgp;

/// A key pair; kept as bytes, so that it can be shared.
#[derive(Clone)]
pub struct SigningKey {
    secret: Vec<u8>,
    /// When it signs; none: now.
    at: Option<SystemTime>,
    /// As a registry shows it.
    pub armor: String,
    /// 16 hexadecimal digits, in capitals.
    pub id: String,
}

impl SigningKey {
    pub fn new(owner: &str) -> SigningKey {
        SigningKey::made(CertBuilder::new().add_userid(owner), None)
    }

    /// Made ten days ago for two days, and signs as of then.
    pub fn expired(owner: &str) -> SigningKey {
        let day = Duration::from_secs(86_400);
        let made = SystemTime::now() - day * 10;
        let builder = CertBuilder::new().add_userid(owner).set_creation_time(made).set_validity_period(day * 2);
        SigningKey::made(builder, Some(made + day))
    }

    fn made(builder: CertBuilder<'_>, at: Option<SystemTime>) -> SigningKey {
        let flags = KeyFlags::empty().set_signing().set_certification();
        let (cert, _) = builder.set_primary_key_flags(flags).generate().unwrap();
        SigningKey {
            at,
            secret: cert.as_tsk().to_vec().unwrap(),
            armor: String::from_utf8(cert.armored().to_vec().unwrap()).unwrap(),
            id: cert.keyid().to_hex(),
        }
    }

    /// The secret key, not armored.
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// A detached signature, not armored.
    pub fn sign(&self, data: &[u8]) -> Vec<u8> {
        let cert = openpgp::Cert::from_bytes(&self.secret).unwrap();
        let policy = StandardPolicy::new();
        let key = cert.keys().with_policy(&policy, self.at).secret().for_signing().next().unwrap();
        let pair = key.key().clone().into_keypair().unwrap();
        let mut signature = Vec::new();
        let signer = Signer::new(Message::new(&mut signature), pair).unwrap().detached();
        let signer = match self.at {
            Some(at) => signer.creation_time(at),
            None => signer,
        };
        let mut signer = signer.build().unwrap();
        signer.write_all(data).unwrap();
        signer.finalize().unwrap();
        signature
    }
}
