//! The user's browser.
//!
//! Never knows what is shown in it.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use url::Url;

/// A program that opens a page says within this time whether it can; some stay for as long as the browser runs.
const PATIENCE: Duration = Duration::from_secs(3);

/// The programs that open a page, the best first, and what to say to them before the address.
const PROGRAMS: &[(&str, &[&str])] = if cfg!(windows) {
    &[("rundll32", &["url.dll,FileProtocolHandler"])]
} else if cfg!(target_os = "macos") {
    &[("open", &[])]
} else {
    &[("xdg-open", &[]), ("x-www-browser", &[]), ("www-browser", &[])]
};

/// Shows a page. False: there is no browser, or it does not come. `search_path` has the folders with programs.
pub async fn open(url: &Url, search_path: &str) -> bool {
    let found = |name: &str| {
        let mut paths = std::env::split_paths(search_path).map(|dir| dir.join(name));
        cfg!(windows) || paths.any(|path| path.is_file())
    };
    let Some((program, before)) = PROGRAMS.iter().find(|(name, _)| found(name)) else { return false };
    let mut command = Command::new(program);
    command.args(*before).arg(url.as_str()).env("PATH", search_path);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // An interrupt of this program must not reach the browser.
    super::process::in_new_group(&mut command);
    match command.spawn() {
        Err(_) => false,
        Ok(mut child) => match tokio::time::timeout(PATIENCE, child.wait()).await {
            Ok(ended) => ended.is_ok_and(|status| status.success()),
            Err(_) => true,
        },
    }
}

#[cfg(all(test, unix, not(target_os = "macos")))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pages_are_shown_by_the_first_program_there_is() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let url = Url::parse("https://h.example/?a=b").unwrap();
        let path = dir.path().to_str().unwrap();
        assert!(!open(&url, path).await);
        for (name, text) in [("www-browser", "exit 0"), ("xdg-open", "[ \"$1\" = 'https://h.example/?a=c' ]")] {
            let file = dir.path().join(name);
            std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(open(&url, path).await, name == "www-browser");
        }
        assert!(open(&Url::parse("https://h.example/?a=c").unwrap(), path).await);
    }
}
