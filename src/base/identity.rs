//! Who and where: the user's name and the machine's, for records that other people read.

/// The user's login name; the number if the system has no name for it.
pub fn user_name() -> String {
    #[cfg(unix)]
    {
        // SAFETY: getuid cannot fail; getpwuid_r fills the entry and the buffer that it is given.
        unsafe {
            let id = libc::getuid();
            let mut entry: libc::passwd = std::mem::zeroed();
            let mut buffer = [0 as libc::c_char; 4096];
            let mut found = std::ptr::null_mut();
            let code = libc::getpwuid_r(id, &mut entry, buffer.as_mut_ptr(), buffer.len(), &mut found);
            if code == 0 && !found.is_null() && !entry.pw_name.is_null() {
                return std::ffi::CStr::from_ptr(entry.pw_name).to_string_lossy().into_owned();
            }
            id.to_string()
        }
    }
    #[cfg(not(unix))]
    std::env::var(super::env::USERNAME).unwrap_or_default()
}

/// The machine's name; empty if it has none.
pub fn host_name() -> String {
    #[cfg(unix)]
    {
        let mut buffer = [0u8; 256];
        // SAFETY: at most the given length is written.
        let code = unsafe { libc::gethostname(buffer.as_mut_ptr().cast(), buffer.len()) };
        let length = buffer.iter().position(|b| *b == 0).unwrap_or(buffer.len());
        if code == 0 { String::from_utf8_lossy(&buffer[..length]).into_owned() } else { String::new() }
    }
    #[cfg(not(unix))]
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn user_and_host_are_not_empty() {
        assert!(!super::user_name().is_empty());
    }
}
