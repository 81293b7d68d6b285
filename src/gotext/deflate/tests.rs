//! Compares the output with that of Go 1.26, recorded in `golden.tsv`: format, kind of input, its size, size of each
//! write (0: one write), size of the output, the first eight bytes of its SHA-256.

use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::{Deflate, Gzip, Level, gzip};
use crate::hex::hex;

const GOLDEN: &str = include_str!("golden.tsv");

/// The pseudo-random generator, which the recording program also uses.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn input(kind: &str, size: usize) -> Vec<u8> {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut out: Vec<u8> = Vec::new();
    while out.len() < size {
        let value = numbers.next();
        match kind {
            "zero" => out.push(0),
            "cycle" => out.push((out.len() % 251) as u8),
            "far" if out.len() >= 32766 => out.push(out[out.len() - 32766]),
            "noise" | "far" => out.push((value >> 32) as u8),
            "digits" => out.push(b"0123456789"[((value >> 32) % 10) as usize]),
            "hex" => out.push(b"0123456789abcdef"[(value >> 32 & 15) as usize]),
            "skew" => out.push((((value >> 32 & 0xffff) * (value >> 48)) >> 24) as u8),
            "words" => {
                for i in 0..=(value >> 60 & 7) {
                    out.push(b'a' + (((value >> 20 & 31) * i + i * i) % 23) as u8);
                }
                out.push(b' ');
            }
            "copies" if out.len() < 100 || value >> 60 < 7 => out.extend([(value >> 32) as u8, (value >> 40) as u8]),
            "copies" => {
                let from = out.len() - 1 - ((value >> 8) % (out.len() as u64 - 1).min(70000)) as usize;
                for i in 0..((value >> 40) % 400) as usize {
                    out.push(out[from + i]);
                }
            }
            "lines" => {
                let line = format!("{}: value {} of {}\n", out.len(), value >> 50, value >> 60);
                out.extend(line.as_bytes());
            }
            other => panic!("unknown kind {other}"),
        }
    }
    out.truncate(size);
    out
}

fn write_in_portions(writer: &mut impl Write, bytes: &[u8], portion: usize) {
    for part in bytes.chunks(if portion == 0 { usize::MAX } else { portion }) {
        writer.write_all(part).unwrap();
    }
}

fn compress(format: &str, bytes: &[u8], portion: usize) -> Vec<u8> {
    if format == "gzip" {
        let mut writer = Gzip::new(Vec::new()).unwrap();
        write_in_portions(&mut writer, bytes, portion);
        writer.finish().unwrap()
    } else {
        let mut writer = Deflate::new(Vec::new(), Level::FIVE);
        write_in_portions(&mut writer, bytes, portion);
        writer.finish().unwrap()
    }
}

#[test]
fn output_has_the_bytes_of_the_reference() {
    let mut wrong = Vec::new();
    let mut cases = 0;
    for line in GOLDEN.lines() {
        let [format, kind, size, portion, length, hash] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let found = compress(format, &input(kind, size.parse().unwrap()), portion.parse().unwrap());
        cases += 1;
        if found.len().to_string() != length || hex(&Sha256::digest(&found)[..8]) != hash {
            wrong.push(format!("{line}: {} bytes", found.len()));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(cases > 200);
}

#[test]
fn output_decompresses_to_the_input() {
    for kind in ["zero", "noise", "words", "copies"] {
        let bytes = input(kind, 200_000);
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(gzip(&bytes).as_slice()).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, bytes, "{kind}");
    }
}

#[test]
fn flush_ends_a_block_as_the_reference_does() {
    let mut writer = Gzip::new(Vec::new()).unwrap();
    writer.write_all(b"hello hello hello").unwrap();
    writer.flush().unwrap();
    writer.write_all(b"hello again").unwrap();
    writer.flush().unwrap();
    assert_eq!(
        hex(&writer.finish().unwrap()),
        "1f8b08000000000000ffca48cdc9c957402201000000ffff823013d31333f300000000ffff010000ffff9479cad71c000000"
    );
}

/// Recorded with `base64gzip` of Terraform 1.11, which flushes before it ends the file.
#[test]
fn flushed_files_have_the_bytes_of_base64gzip() {
    let text: String = (0..30).map(|i| format!("row {i}\n")).collect();
    let mut writer = Gzip::new(Vec::new()).unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    writer.flush().unwrap();
    let expected = "H4sIAAAAAAAA/yzOuw2AQBAD0fyqoARsvlsVEgnto/NsMpmf/D7fso5ZpU63dE+P9Eyv9E6LVY9Zi7nYC0\
                    AIghCGQIRiFPcHFKMYxShGMYpRXOMHAAD//wEAAP//sxVgYsgAAAA=";
    assert_eq!(STANDARD.encode(writer.finish().unwrap()), expected);
}
