//! OpenPGP packets as they come: out of their armor, and with the numbers of signatures written as the standard wants them.

use std::borrow::Cow;
use std::io::Read;

use sequoia_openpgp::armor::{Kind, Reader, ReaderMode};
use sequoia_openpgp::parse::{PacketParser, PacketParserResult, Parse};
use sequoia_openpgp::{Error, Packet, Result};

use super::error::SignatureProblem;

/// What was within armor.
pub(super) struct Dearmored {
    pub kind: Kind,
    pub bytes: Vec<u8>,
}

/// Why nothing could be taken out of armor.
pub(super) enum ArmorProblem {
    /// There is none.
    None,
    Broken(SignatureProblem),
}

/// What is within the first armored block of a text.
pub(super) fn dearmored(text: &[u8]) -> std::result::Result<Dearmored, ArmorProblem> {
    let mut bytes = Vec::new();
    let mut reader = Reader::from_bytes(text, ReaderMode::Tolerant(None));
    let read = reader.read_to_end(&mut bytes);
    match (read, reader.kind()) {
        (Ok(_), Some(kind)) => Ok(Dearmored { kind, bytes }),
        (_, None) => Err(ArmorProblem::None),
        (Err(_), Some(_)) if !has_end(text) => Err(ArmorProblem::Broken(SignatureProblem::Truncated)),
        (Err(e), Some(_)) => Err(ArmorProblem::Broken(SignatureProblem::Malformed(e.to_string()))),
    }
}

fn has_end(text: &[u8]) -> bool {
    text.windows(END.len()).any(|window| window == END)
}

const END: &[u8] = b"-----END PGP ";

/// Whether it is a signature in armor: packets begin with a byte that no text begins with.
pub(super) fn is_armored_signature(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"-----BEGIN PGP SIGNATURE-----")
}

/// All packets, those inside others not among them, up to what is none.
pub(super) fn parse(bytes: &[u8]) -> (Vec<Packet>, Result<()>) {
    let bytes = normalised(bytes);
    let mut found = Vec::new();
    let mut next = || -> Result<()> {
        let mut rest = PacketParser::from_bytes(&bytes)?;
        while let PacketParserResult::Some(parser) = rest {
            let (packet, next) = parser.next()?;
            found.push(packet);
            rest = next;
        }
        Ok(())
    };
    let end = next();
    (found, end)
}

/// Whether there was less than there should have been.
pub(super) fn is_truncated(problem: &sequoia_openpgp::anyhow::Error) -> bool {
    let of_io = problem.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    let of_packet = problem.downcast_ref::<Error>();
    of_io == Some(std::io::ErrorKind::UnexpectedEof)
        || matches!(of_packet, Some(Error::MalformedPacket(why)) if why == "Truncated packet")
}

/// The same packets, the numbers in version 4 signatures without leading zeros. Programs in Go used to write a number by
/// the length of its key; the standard, and the parser with it, wants the count of its significant bits. Bytes that are no
/// packets stay as they are: the parser says what is wrong with them.
fn normalised(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut changed: Vec<u8> = Vec::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(header) = Header::parse(&bytes[at..]) {
        let body = at + header.len;
        let Some(end) = body.checked_add(header.body_len).filter(|end| *end <= bytes.len()) else { break };
        if header.tag == SIGNATURE
            && let Some(new_body) = shortened(&bytes[body..end])
            && let Ok(new_len) = u32::try_from(new_body.len())
        {
            changed.extend_from_slice(&bytes[copied..at]);
            changed.extend_from_slice(&[0xC0 | SIGNATURE, 0xFF]);
            changed.extend_from_slice(&new_len.to_be_bytes());
            changed.extend_from_slice(&new_body);
            copied = end;
        }
        at = end;
    }
    if copied == 0 {
        return Cow::Borrowed(bytes);
    }
    changed.extend_from_slice(&bytes[copied..]);
    Cow::Owned(changed)
}

const SIGNATURE: u8 = 2;

struct Header {
    tag: u8,
    /// Of the header.
    len: usize,
    body_len: usize,
}

impl Header {
    /// None at the end, and for partial and indeterminate lengths: signatures and keys have neither.
    fn parse(bytes: &[u8]) -> Option<Header> {
        let first = *bytes.first()?;
        let number = |range: std::ops::Range<usize>| {
            Some(bytes.get(range)?.iter().fold(0_usize, |sum, b| sum << 8 | usize::from(*b)))
        };
        if first & 0xC0 == 0xC0 {
            let (len, body_len) = match *bytes.get(1)? {
                short @ 0..=191 => (2, usize::from(short)),
                two @ 192..=223 => (3, ((usize::from(two) - 192) << 8) + usize::from(*bytes.get(2)?) + 192),
                224..=254 => return None,
                255 => (6, number(2..6)?),
            };
            return Some(Header { tag: first & 0x3F, len, body_len });
        }
        let size = match first {
            0x80..=0xBF if first & 3 < 3 => 1_usize << (first & 3),
            _ => return None,
        };
        Some(Header { tag: first >> 2 & 0x0F, len: 1 + size, body_len: number(1..1 + size)? })
    }
}

/// A signature's body with the numbers at its end shortened; None if there is nothing to shorten.
fn shortened(body: &[u8]) -> Option<Vec<u8>> {
    let algorithm = *body.get(2)?;
    if *body.first()? != 4 || !matches!(algorithm, 1 | 3 | 17 | 19 | 22) {
        return None;
    }
    let short = |at: usize| Some(usize::from(u16::from_be_bytes([*body.get(at)?, *body.get(at + 1)?])));
    // Version, type, two algorithms; two areas of subpackets, each behind its length; two bytes of the digest.
    let unhashed = 6 + short(4)?;
    let mut at = unhashed + 2 + short(unhashed)? + 2;
    let mut new = body.get(..at)?.to_vec();
    while at < body.len() {
        let bytes = short(at)?.div_ceil(8);
        let number = body.get(at + 2..at + 2 + bytes)?;
        let zeros = number.iter().take_while(|b| **b == 0).count();
        let number = &number[zeros..];
        let bits = number.first().map_or(0, |b| number.len() * 8 - b.leading_zeros() as usize);
        new.extend_from_slice(&u16::try_from(bits).ok()?.to_be_bytes());
        new.extend_from_slice(number);
        at += 2 + bytes;
    }
    (new != body).then_some(new)
}
