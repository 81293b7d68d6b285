//! Whether functions that look outside give the same answer each time: fingerprints of calls and of their results.
//!
//! Owns what a fingerprint covers. Never keeps anything: that is for the machine, which may know what the same call gave
//! when a plan was made, and which decides whether another result is an error.

use sha2::{Digest, Sha256};
use terrane_value::{Type, Value, msgpack};

use super::builtin::quoted_argument;
use super::signature::{CallContext, Fingerprint, FunctionError, Reads, Remembered};

/// Lets the machine compare the result of a call with the one that it keeps. The error: it refuses the new one. `name`
/// tells the function from all others; `is_secret`: messages must not show the arguments; `result`: none if the call failed,
/// which is as good as any result of a function that reads files: `try` makes a value of it.
pub(crate) fn confirm(
    reads: Reads,
    name: &str,
    (args, is_secret): (&[Value], bool),
    result: Option<&Value>,
    context: &CallContext<'_>,
) -> Result<(), FunctionError> {
    if reads == Reads::Nothing || reads == Reads::Provider && result.is_none() {
        return Ok(());
    }
    let Some(machine) = context.scope.machine().filter(|machine| machine.remembers(reads)) else { return Ok(()) };
    // What is not known yet is no result: it may become anything.
    if !result.is_none_or(Value::is_wholly_known) || !args.iter().all(Value::is_wholly_known) {
        return Ok(());
    }
    let shown = || args.iter().map(quoted_argument).collect::<Vec<_>>().join(", ");
    let remembered = Remembered {
        reads,
        name,
        shown: if is_secret { "(sensitive value)".to_owned() } else { shown() },
        call: fingerprint(name, args),
        result: match result {
            Some(result) => fingerprint("", std::slice::from_ref(result)),
            None => fingerprint("failed", &[]),
        },
    };
    if machine.confirms(&remembered) {
        return Ok(());
    }
    Err(FunctionError::new(
        "provider function returned an inconsistent result; with the same arguments it gave another result before. This is a \
         bug in the provider, which should be reported in the provider's own issue tracker",
    ))
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
    use terrane_value::Marks;

    use super::*;

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
