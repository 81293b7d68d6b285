//! The cause of an error of a connection.

use std::io;

use crate::providers::tls_text::handshake_text;

const CONNECTION_REFUSED: &str = "connect: connection refused";

/// The innermost cause of an error, in Go's words where it has some for it.
pub fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let innermost = innermost(error);
    if let Some(text) = innermost.downcast_ref().and_then(handshake_text) {
        return text;
    }
    if is_refused(error) { CONNECTION_REFUSED.to_owned() } else { innermost.to_string() }
}

/// True if nothing listens at the address.
pub fn is_refused(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = innermost(error).downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

fn innermost<'a>(error: &'a (dyn std::error::Error + 'static)) -> &'a (dyn std::error::Error + 'static) {
    let mut innermost = error;
    while let Some(source) = inner(innermost) {
        innermost = source;
    }
    innermost
}

/// What caused an error, or what it wraps: errors of I/O are no cause of those that they wrap.
fn inner<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a (dyn std::error::Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}
