//! ECDSA keys on the curves of the provider.

use std::fmt;

use p256::ecdsa::signature::hazmat::PrehashSigner;
use p256::elliptic_curve::sec1::{FromSec1Point, ModulusSize, ToSec1Point};
use p256::elliptic_curve::{AffinePoint, CurveArithmetic, FieldBytesSize, PublicKey, SecretKey};

use super::error::KeyError;
use super::random;
use crate::providers::tls::der::oid::{self, Oid};

/// A NIST curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    P224,
    P256,
    P384,
    P521,
}

impl Curve {
    const ALL: [Curve; 4] = [Curve::P224, Curve::P256, Curve::P384, Curve::P521];

    /// The value of `ecdsa_curve`.
    pub fn name(self) -> &'static str {
        match self {
            Curve::P224 => "P224",
            Curve::P256 => "P256",
            Curve::P384 => "P384",
            Curve::P521 => "P521",
        }
    }

    pub fn from_name(name: &str) -> Option<Curve> {
        Curve::ALL.into_iter().find(|curve| curve.name() == name)
    }

    pub fn oid(self) -> &'static Oid {
        match self {
            Curve::P224 => oid::SECP224R1,
            Curve::P256 => oid::PRIME256V1,
            Curve::P384 => oid::SECP384R1,
            Curve::P521 => oid::SECP521R1,
        }
    }

    pub fn from_oid(oid: &Oid) -> Option<Curve> {
        Curve::ALL.into_iter().find(|curve| curve.oid() == oid)
    }

    /// OpenSSH's name. It has none for P-224.
    pub fn ssh_name(self) -> Option<&'static str> {
        match self {
            Curve::P224 => None,
            Curve::P256 => Some("nistp256"),
            Curve::P384 => Some("nistp384"),
            Curve::P521 => Some("nistp521"),
        }
    }

    pub fn from_ssh_name(name: &str) -> Option<Curve> {
        Curve::ALL.into_iter().find(|curve| curve.ssh_name() == Some(name))
    }

    /// Bytes of a scalar.
    pub fn size(self) -> usize {
        match self {
            Curve::P224 => 28,
            Curve::P256 => 32,
            Curve::P384 => 48,
            Curve::P521 => 66,
        }
    }

    /// Fails unless the bytes are an uncompressed point of the curve.
    pub fn check_point(self, point: &[u8]) -> Result<(), PointError> {
        if point.len() != 1 + 2 * self.size() || point[0] != 4 {
            return Err(PointError::Form);
        }
        let is_on_curve = match self {
            Curve::P224 => PublicKey::<p224::NistP224>::from_sec1_bytes(point).is_ok(),
            Curve::P256 => PublicKey::<p256::NistP256>::from_sec1_bytes(point).is_ok(),
            Curve::P384 => PublicKey::<p384::NistP384>::from_sec1_bytes(point).is_ok(),
            Curve::P521 => PublicKey::<p521::NistP521>::from_sec1_bytes(point).is_ok(),
        };
        if is_on_curve { Ok(()) } else { Err(PointError::NotOnCurve(self)) }
    }
}

/// Why bytes are not a point of a curve, as Go says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointError {
    /// They are not an uncompressed point.
    Form,
    NotOnCurve(Curve),
}

impl fmt::Display for PointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PointError::Form => f.write_str("ecdsa: invalid uncompressed public key"),
            PointError::NotOnCurve(curve) => write!(f, "{} point not on curve", curve.name()),
        }
    }
}

impl std::error::Error for PointError {}

/// A scalar of `Curve::size` bytes, and its point, uncompressed.
#[derive(Clone)]
pub struct EcKey {
    curve: Curve,
    scalar: Vec<u8>,
    point: Vec<u8>,
}

impl EcKey {
    pub fn generate(curve: Curve) -> Result<EcKey, KeyError> {
        let mut scalar = vec![0; curve.size()];
        // Numbers from the order on are drawn again: all others are then equally likely.
        loop {
            random::fill(&mut scalar)?;
            if curve == Curve::P521 {
                scalar[0] &= 1;
            }
            if let Ok(key) = EcKey::from_scalar(curve, scalar.clone()) {
                return Ok(key);
            }
        }
    }

    /// The key of a scalar, which must be shorter than the curve's order and not zero.
    pub fn from_scalar(curve: Curve, scalar: Vec<u8>) -> Result<EcKey, KeyError> {
        let point = match curve {
            Curve::P224 => point_of::<p224::NistP224>(&scalar),
            Curve::P256 => point_of::<p256::NistP256>(&scalar),
            Curve::P384 => point_of::<p384::NistP384>(&scalar),
            Curve::P521 => point_of::<p521::NistP521>(&scalar),
        }?;
        Ok(EcKey { curve, scalar, point })
    }

    pub fn curve(&self) -> Curve {
        self.curve
    }

    pub fn scalar(&self) -> &[u8] {
        &self.scalar
    }

    pub fn point(&self) -> &[u8] {
        &self.point
    }

    /// The signature of a hash, in DER. The same hash gets the same signature (RFC 6979).
    pub fn sign(&self, hash: &[u8]) -> Result<Vec<u8>, KeyError> {
        macro_rules! sign {
            ($ecdsa:path) => {{
                use $ecdsa as ecdsa;
                let key = ecdsa::SigningKey::from_slice(&self.scalar).map_err(|_| invalid_scalar(&self.scalar))?;
                let signature: ecdsa::Signature =
                    key.sign_prehash(hash).map_err(|error| KeyError::Library(error.to_string()))?;
                signature.to_der().as_bytes().to_vec()
            }};
        }
        Ok(match self.curve {
            Curve::P224 => sign!(p224::ecdsa),
            Curve::P256 => sign!(p256::ecdsa),
            Curve::P384 => sign!(p384::ecdsa),
            Curve::P521 => sign!(p521::ecdsa),
        })
    }
}

fn invalid_scalar(scalar: &[u8]) -> KeyError {
    let is_zero = scalar.iter().all(|byte| *byte == 0);
    if is_zero { KeyError::ZeroScalar } else { KeyError::LargeScalar }
}

fn point_of<C>(scalar: &[u8]) -> Result<Vec<u8>, KeyError>
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    AffinePoint<C>: FromSec1Point<C> + ToSec1Point<C>,
{
    let key = SecretKey::<C>::from_slice(scalar).map_err(|_| invalid_scalar(scalar))?;
    Ok(key.public_key().to_sec1_point(false).as_bytes().to_vec())
}
