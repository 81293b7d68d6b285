//! Connection strings as libpq reads them.

use super::*;

fn read(text: &str, environment: &[(&str, &str)]) -> Result<String, String> {
    let parameters = Parameters::read(text, Path::new(""), &Environment::of(environment.iter().copied()))?;
    let shown = parameters.iter().filter(|(key, value)| {
        let is_default = [("host", "localhost"), ("port", "5432")].contains(&(*key, *value));
        !is_default && (*key, *value) != ("user", identity::user_name().as_str())
    });
    Ok(shown.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" "))
}

#[test]
fn both_forms_mean_the_same() {
    let expected = "dbname=d b host=h password=p@:/ word port=5433 sslmode=disable user=u";
    let forms = [
        "postgres://u:p%40%3A%2F%20word@h:5433/d%20b?sslmode=disable",
        "postgresql://u:p@:%2F word@h:5433/d%20b?sslmode=disable",
        "postgres:///?user=u&password=p%40:/+word&host=h&port=5433&dbname=d+b&sslmode=disable#x",
        "user=u password='p@:/ word' host=h port=5433 dbname='d b' sslmode=disable",
        " host = h user=u\tpassword=p@:/\\ word\nport=5433 dbname=d\\ b sslmode = 'disable'",
    ];
    for form in forms {
        assert_eq!(read(form, &[]).as_deref(), Ok(expected), "{form}");
    }
}

#[test]
fn urls_have_parts_of_many_kinds() {
    let cases = [
        ("postgres://", ""),
        ("postgres:///db", "dbname=db"),
        ("postgres://[::1]:7/db", "dbname=db host=::1 port=7"),
        ("postgres://[::1]/", "host=::1"),
        ("postgres://a:1,b,c:3/db", "dbname=db host=a,b,c port=1,,3"),
        ("postgres://u+v:a+b@h", "host=h password=a+b user=u+v"),
        ("postgres://%2Ftmp/db", "dbname=db host=/tmp sslmode=disable"),
        ("postgres:///db?host=/tmp&application_name=x%26y", "application_name=x&y dbname=db host=/tmp sslmode=disable"),
        ("", ""),
        ("dbname=", ""),
        ("password='it\\'s \\\\'", "password=it's \\"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text, &[]).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn the_environment_is_below_the_connection_string() {
    let environment =
        [("PGHOST", "e"), ("PGUSER", "eu"), ("PGPASSWORD", "ep"), ("PGSSLMODE", "verify-full"), ("PGTZ", "")];
    assert_eq!(read("", &environment).unwrap(), "host=e password=ep sslmode=verify-full user=eu");
    assert_eq!(read("postgres://u@h/", &environment).unwrap(), "host=h password=ep sslmode=verify-full user=u");
    assert_eq!(read("", &[("PGSSLCRL", "/x")]).unwrap_err(), "setting PGSSLCRL not supported");
}

#[test]
fn files_of_the_string_start_in_the_folder_of_the_command() {
    let read = |text| {
        let environment = Environment::of([("PGSSLKEY", "process.key")]);
        let parameters = Parameters::read(text, Path::new("/base"), &environment).unwrap();
        let files = ["sslcert", "sslkey", "sslrootcert", "passfile"].map(|key| parameters.get(key).unwrap_or("-"));
        files.join(" ")
    };
    let cases = [
        ("postgres://h/?sslcert=a.crt&sslkey=b.key", "/base/a.crt /base/b.key - -"),
        ("sslcert=/a.crt sslrootcert='x/ca.pem' passfile=p", "/a.crt process.key /base/x/ca.pem /base/p"),
        ("sslrootcert=system passfile=''", "- process.key system -"),
        ("sslinline=true sslcert=PEM passfile=p", "PEM process.key - /base/p"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn errors_show_nothing_of_the_string() {
    let cases = [
        ("postgres//u:secret@h/d", "missing \"=\" in the connection string; a URL begins with postgres://"),
        ("host=h password='secret", "unterminated quoted string literal in connection string"),
        ("password=secret\\", "missing character after backslash"),
        ("client_encoding=latin1", "client_encoding must be absent or 'UTF8'"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text, &[]).unwrap_err(), expected);
    }
    assert!(read("client_encoding='utf-8'", &[]).is_ok());
}

#[test]
fn messages_name_the_server() {
    let server = |text| Parameters::read(text, Path::new(""), &Environment::default()).unwrap().server();
    assert_eq!(server("host=h"), "tcp h:5432");
    assert_eq!(server("host=a,::1,/s port=1,,3"), "tcp a:1, tcp [::1]:5432, unix /s/.s.PGSQL.3");
    assert_eq!(server("host=h hostaddr=10.0.0.1 port=9"), "tcp 10.0.0.1:9");
}

const PASSWORDS: &str = "# host:port:database:user:password\n\nh:5432:other:u:no\nh:*:d:u:with\\:colon\\\\\nlocalhost:*:*:u:socket\n*:*:*:u:any\n";

#[cfg(unix)]
#[test]
fn passwords_come_from_a_private_file() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".pgpass");
    std::fs::write(&path, PASSWORDS).unwrap();
    let look_up = |text: &str, mode: u32| {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let environment = Environment::of([("HOME", dir.path().to_str().unwrap())]);
        let mut parameters = Parameters::read(text, Path::new(""), &environment).unwrap();
        parameters.look_up_password(&environment);
        parameters.get("password").unwrap_or("none").to_owned()
    };
    assert_eq!(look_up("host=h user=u dbname=d", 0o600), "with:colon\\");
    assert_eq!(look_up("host=h user=u", 0o600), "any");
    assert_eq!(look_up("host=/run user=u", 0o600), "socket");
    assert_eq!(look_up("host=h user=x", 0o600), "none");
    assert_eq!(look_up("host=h user=u password=own", 0o600), "own");
    assert_eq!(look_up("host=h user=u", 0o640), "none");
    let elsewhere = dir.path().join("elsewhere");
    std::fs::write(&elsewhere, "*:*:*:*:there").unwrap();
    std::fs::set_permissions(&elsewhere, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(look_up(&format!("user=u passfile='{}'", elsewhere.display()), 0o600), "there");
}
