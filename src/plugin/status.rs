//! Statuses of gRPC as the reference's library shows them.

use tonic::{Code, Status};

/// `rpc error: code = Unavailable desc = ...`
pub fn status_text(status: &Status) -> String {
    let code = match status.code() {
        Code::Ok => "OK".to_owned(),
        Code::Cancelled => "Canceled".to_owned(),
        code => format!("{code:?}"),
    };
    format!("rpc error: code = {code} desc = {}", status.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_read_as_the_reference_writes_them() {
        assert_eq!(status_text(&Status::cancelled("x")), "rpc error: code = Canceled desc = x");
        assert_eq!(status_text(&Status::deadline_exceeded("")), "rpc error: code = DeadlineExceeded desc = ");
    }
}
