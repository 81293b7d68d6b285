//! Whether functions that look outside give the same answer each time: fingerprints of calls and of their results.
//!
//! Owns what a fingerprint covers and what is said where a result differs. Never keeps anything: that is for the machine,
//! which may know what the same call gave when a plan was made.

use sha2::{Digest, Sha256};

use super::signature::{CallContext, FunctionError};
use crate::lang::value::{Type, Value, msgpack};

/// A hash (SHA-256) of a call with its arguments, or of a result. Values cannot be read from it.
pub type Fingerprint = [u8; 32];

/// Where a function has its answers from, beside its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    Nothing,
    Files,
    Provider,
}

/// The error if the same call gave another result before. `name` tells the function from all others.
pub(crate) fn confirm(
    reads: Reads,
    name: &str,
    args: &[Value],
    result: &Value,
    context: &CallContext<'_>,
) -> Result<(), FunctionError> {
    if reads == Reads::Nothing {
        return Ok(());
    }
    let Some(machine) = context.scope.machine().filter(|machine| machine.remembers(reads)) else { return Ok(()) };
    // What is not known yet is no result: it may become anything.
    if !result.is_wholly_known() || !args.iter().all(Value::is_wholly_known) {
        return Ok(());
    }
    let call = fingerprint(name, args);
    if machine.confirms(call, fingerprint("", std::slice::from_ref(result))) {
        return Ok(());
    }
    Err(FunctionError::new(match reads {
        Reads::Provider => {
            "provider function returned an inconsistent result; with the same arguments it gave another result before. \
             This is a bug in the provider, which should be reported in the provider's own issue tracker"
        }
        _ => {
            "function returned an inconsistent result; the files that it reads have changed since it was first called \
             for this plan. Make a new plan. If a resource of this configuration writes them, obtain the result from an \
             attribute of that resource instead"
        }
    }))
}

/// Each part goes in with its length, so that no two lists of parts look the same.
fn fingerprint(name: &str, values: &[Value]) -> Fingerprint {
    let mut hash = Sha256::new();
    let mut add = |kind: u8, bytes: &[u8]| {
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(b'n', name.as_bytes());
    for value in values {
        match value.as_str() {
            // Contents of files may be large: no copy of them.
            Some(text) if value.is_known() && !value.is_null() => add(b's', text.as_bytes()),
            _ => add(b'v', &msgpack::encode(&value.unmark_deep().0, &Type::Dynamic)),
        }
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::value::Marks;

    #[test]
    fn fingerprints_tell_calls_apart() {
        let text = |s: &str| Value::string(s);
        let all = [
            fingerprint("file", &[text("ab")]),
            fingerprint("file", &[text("a"), text("b")]),
            fingerprint("fil", &[text("eab")]),
            fingerprint("file", &[text("")]),
            fingerprint("file", &[]),
            fingerprint("file", &[Value::int(1)]),
            fingerprint("file", &[text("1")]),
            fingerprint("file", &[Value::list(Type::String, vec![text("ab")])]),
            fingerprint("file", &[Value::set(Type::String, vec![text("ab")])]),
            fingerprint("file", &[Value::null(Type::String)]),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other != one), "number {i}");
        }
    }

    #[test]
    fn marks_do_not_count() {
        let secret = |v: Value| v.mark(Marks::SENSITIVE);
        let list = |v: Value| Value::list(Type::String, vec![v]);
        for value in [Value::string("a"), list(Value::string("a"))] {
            let plain = fingerprint("file", std::slice::from_ref(&value));
            assert_eq!(plain, fingerprint("file", &[secret(value)]));
        }
        assert_eq!(
            fingerprint("f", &[list(Value::string("a"))]),
            fingerprint("f", &[list(secret(Value::string("a")))])
        );
    }
}
