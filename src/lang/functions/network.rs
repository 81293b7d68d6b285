//! Functions of IP address prefixes.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use terrane_value::{Type, Value};

use super::builtin::{Allow as _, Builtin, Outcome, fail, fail_argument, num, number, string, text, whole};
use super::signature::{CallContext, FunctionError};
use crate::opentofu;

pub(super) fn table() -> Vec<Builtin> {
    let s = Type::String;
    vec![
        Builtin::new(
            "cidrhost",
            vec![
                string("prefix").about(PREFIX),
                number("hostnum").about("The number of the host: a whole number that fits the bits behind the prefix."),
            ],
            s.clone(),
            host,
        )
        .doc("The address of a host within a prefix."),
        Builtin::new(
            "cidrcontains",
            vec![string("containing_prefix"), string("contained_ip_or_prefix")],
            Type::Bool,
            contains,
        )
        .doc("Whether a prefix contains an address or another prefix."),
        Builtin::new("cidrnetmask", vec![string("prefix").about(PREFIX)], s.clone(), netmask)
            .doc("The netmask of an IPv4 prefix."),
        Builtin::new(
            "cidrsubnet",
            vec![
                string("prefix").about(PREFIX),
                number("newbits").about("By how many bits the prefix gets longer."),
                number("netnum").about("The number of the subnet: a whole number that fits the new bits."),
            ],
            s.clone(),
            subnet,
        )
        .doc("A subnet within a prefix, by its number."),
        Builtin::new("cidrsubnets", vec![string("prefix").about(PREFIX)], Type::list(s), subnets)
            .variadic(number("newbits").dynamic())
            .doc("Consecutive subnets within a prefix."),
    ]
}

/// As most parameters of a network are described.
const PREFIX: &str = "A network in CIDR notation (RFC 4632), such as `10.0.0.0/8`.";

/// An address range: the bits of its first address and how many of them are fixed.
#[derive(Clone, Copy)]
struct Prefix {
    bits: u128,
    length: u32,
    v6: bool,
}

impl Prefix {
    fn parse(source: &str) -> Option<Prefix> {
        let (address, length) = source.split_once('/')?;
        if length.is_empty() || length.len() > 3 || !length.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let length: u32 = length.parse().ok()?;
        let (bits, v6) = match address.contains(':') {
            true => (address.parse::<Ipv6Addr>().ok()?.to_bits(), true),
            false => (u128::from(parse_v4(address)?), false),
        };
        let prefix = Prefix { bits, length, v6 };
        if length > prefix.width() {
            return None;
        }
        Some(Prefix { bits: bits & prefix.mask(), ..prefix })
    }

    fn width(&self) -> u32 {
        if self.v6 { 128 } else { 32 }
    }

    /// The fixed bits.
    fn mask(&self) -> u128 {
        let free = self.width() - self.length;
        let all = if self.v6 { u128::MAX } else { u128::from(u32::MAX) };
        if free >= 128 { 0 } else { all >> free << free }
    }

    fn is_mapped_v4(&self) -> bool {
        self.v6 && self.length >= 96 && self.bits >> 32 == 0xffff
    }

    /// The prefix of IPv4 that `::ffff:10.0.0.0/104` stands for; others as they are.
    fn unmapped(self) -> Prefix {
        match self.is_mapped_v4() {
            true => Prefix { bits: self.bits & u128::from(u32::MAX), length: self.length - 96, v6: false },
            false => self,
        }
    }

    fn address(&self, bits: u128) -> IpAddr {
        if self.v6 { IpAddr::V6(Ipv6Addr::from_bits(bits)) } else { IpAddr::V4(Ipv4Addr::from_bits(bits as u32)) }
    }
}

/// Within `::ffff:0:0/96`, where IPv6 writes IPv4 addresses, the IPv4 form, as Go prints it.
impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_mapped_v4() {
            return write!(f, "{}/{}", Ipv4Addr::from_bits(self.bits as u32), self.length - 96);
        }
        write!(f, "{}/{}", self.address(self.bits), self.length)
    }
}

/// Four decimal numbers; leading zeros are skipped, as the language has always done.
fn parse_v4(source: &str) -> Option<u32> {
    let parts: Vec<&str> = source.split('.').collect();
    if parts.len() != 4 {
        return None;
    }
    parts.iter().try_fold(0u32, |bits, part| {
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits = part.trim_start_matches('0');
        let byte: u8 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        Some(bits << 8 | u32::from(byte))
    })
}

fn prefix(a: &[Value]) -> Result<Prefix, FunctionError> {
    let source = text(a, 0);
    Prefix::parse(source)
        .ok_or_else(|| FunctionError::new(format!("invalid CIDR expression: invalid CIDR address: {source}")))
}

fn big(a: &[Value], i: usize) -> Result<BigInt, FunctionError> {
    let n = num(a, i);
    n.truncated().filter(|_| n.is_integer()).ok_or_else(|| FunctionError::new("value must be a whole number"))
}

/// All ones below a width.
fn ones(width: u32) -> BigInt {
    (BigInt::from(1) << width) - 1
}

fn host(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let number = big(a, 1)?;
    let prefix = prefix(a)?;
    let free = prefix.width() - prefix.length;
    let largest = ones(free);
    // From the end: -1 is the last address.
    let counted = if number < BigInt::from(0) { -&number - 1 } else { number.clone() };
    if counted > largest {
        let shown = if number < BigInt::from(0) { -BigInt::from(1) - &counted + ones(free) + 1 } else { number };
        let message = format!("prefix of {} does not accommodate a host numbered {shown}", prefix.length);
        return fail(message);
    }
    let offset = if number < BigInt::from(0) { largest + 1 + number } else { number };
    let bits = prefix.bits | (offset & BigInt::from(u128::MAX)).to_u128().unwrap_or(0);
    Ok(Value::string(prefix.address(bits).to_string()))
}

/// An address is a prefix of all its bits; one that is mapped to IPv6 is that of IPv4.
fn contains(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let Some(outer) = Prefix::parse(text(a, 0)).map(Prefix::unmapped) else {
        return fail(format!("invalid CIDR address: {}", text(a, 0)));
    };
    let source = text(a, 1);
    let all_bits = if source.contains(':') { 128 } else { 32 };
    let inner = Prefix::parse(&format!("{source}/{all_bits}")).or_else(|| Prefix::parse(source));
    let Some(inner) = inner.map(Prefix::unmapped) else {
        return fail(format!("invalid IP address or prefix: {source}"));
    };
    if inner.v6 != outer.v6 {
        return fail(format!("address family mismatch: {} vs. {source}", text(a, 0)));
    }
    Ok(Value::bool(inner.length >= outer.length && inner.bits & outer.mask() == outer.bits))
}

fn netmask(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let prefix = prefix(a)?;
    if prefix.v6 && prefix.bits >> 32 != 0xffff {
        return fail(format!("IPv6 addresses cannot have a netmask: {}", text(a, 0)));
    }
    Ok(Value::string(prefix.address(prefix.mask()).to_string()))
}

fn subnet(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let new_bits = whole(&num(a, 1)).map_err(FunctionError::new)?;
    let number = big(a, 2)?;
    let prefix = prefix(a)?;
    let length = i64::from(prefix.length).saturating_add(new_bits);
    let length = match u32::try_from(length) {
        Ok(length) if length <= prefix.width() => length,
        _ => {
            let old = prefix.length;
            return fail(format!("insufficient address space to extend prefix of {old} by {new_bits}"));
        }
    };
    let fits = new_bits < 0 || number <= ones(new_bits as u32);
    if !fits {
        let message = format!("prefix extension of {new_bits} does not accommodate a subnet numbered {number}");
        return fail(message);
    }
    let negative = number < BigInt::from(0);
    let magnitude = if negative { -&number } else { number };
    let shifted = if length == 0 { BigInt::from(0) } else { magnitude << (prefix.width() - length) };
    let all = if prefix.v6 { BigInt::from(u128::MAX) } else { BigInt::from(u32::MAX) };
    let shifted = (shifted & all).to_u128().unwrap_or(0);
    // A negative number is applied bit by bit without its sign, and loses the prefix, as the reference does.
    let bits = if negative { shifted } else { prefix.bits | shifted };
    let result = Prefix { bits, length, v6: prefix.v6 };
    Ok(Value::string(result.to_string()))
}

fn subnets(a: &[Value], context: &CallContext<'_>) -> Outcome {
    let base = match Prefix::parse(text(a, 0)) {
        Some(prefix) => prefix,
        None => return fail_argument(0, format!("invalid CIDR expression: invalid CIDR address: {}", text(a, 0))),
    };
    let mut results: Vec<Value> = Vec::with_capacity(a.len());
    let mut next = BigInt::from(base.bits);
    let end = BigInt::from(base.bits) + ones(base.width() - base.length);
    let mut last: Option<Prefix> = None;
    for i in 1..a.len() {
        let new_bits = whole(&num(a, i)).map_err(|e| FunctionError::argument(i, e))?;
        if new_bits < 1 {
            return fail_argument(i, "must extend prefix by at least one bit");
        }
        if new_bits > opentofu::most_subnet_bits(context.dialect) {
            return fail_argument(i, "may not extend prefix by more than 32 bits");
        }
        let length = base.length + new_bits as u32;
        if length > base.width() {
            let protocol = if base.v6 { "IPv6" } else { "IPv4" };
            let message = format!("would extend prefix to {length} bits, which is too long for an {protocol} address");
            return fail_argument(i, message);
        }
        let size = BigInt::from(1) << (base.width() - length);
        // The next multiple of its size that is free.
        let start = (&next + &size - 1u32) / &size * &size;
        if &start + &size - 1u32 > end {
            let after = last.map_or_else(|| base.to_string(), |p| p.to_string());
            let message =
                format!("not enough remaining address space for a subnet with a prefix of {length} bits after {after}");
            return fail_argument(i, message);
        }
        next = &start + &size;
        let subnet = Prefix { bits: start.to_u128().unwrap_or(0), length, v6: base.v6 };
        results.push(Value::string(subnet.to_string()));
        last = Some(subnet);
    }
    Ok(Value::list(Type::String, results))
}
