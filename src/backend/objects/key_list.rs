//! The list of a bucket's keys, where a service gives it in pages that begin behind a marker.

use net::percent::encoded;
use serde::Deserialize;

/// The keys of all objects that begin with a prefix, as far as pages were read.
pub struct KeyList<'a> {
    prefix: &'a str,
    marker: String,
    keys: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct KeyPage {
    #[serde(default)]
    contents: Vec<KeyEntry>,
    #[serde(default)]
    is_truncated: bool,
    next_marker: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct KeyEntry {
    key: String,
}

impl KeyList<'_> {
    pub fn new(prefix: &str) -> KeyList<'_> {
        KeyList { prefix, marker: String::new(), keys: Vec::new() }
    }

    /// The query that asks for the next page.
    pub fn query(&self) -> String {
        let next = match self.marker.as_str() {
            "" => String::new(),
            marker => format!("marker={}&", encoded(marker, false)),
        };
        format!("{next}max-keys=1000&prefix={}", encoded(self.prefix, false))
    }

    /// Adds a page; true if another one follows. The error is for people.
    pub fn add(&mut self, page: &str) -> Result<bool, String> {
        let page: KeyPage =
            quick_xml::de::from_str(page).map_err(|e| format!("the list of objects cannot be read: {e}"))?;
        self.keys.extend(page.contents.into_iter().map(|entry| entry.key));
        let next = page.next_marker.or_else(|| self.keys.last().cloned()).filter(|next| *next != self.marker);
        match next.filter(|_| page.is_truncated) {
            Some(next) => {
                self.marker = next;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    pub fn into_keys(self) -> Vec<String> {
        self.keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(keys: &[&str], end: &str) -> String {
        let keys: String = keys.iter().map(|key| format!("<Contents><Key>{key}</Key></Contents>")).collect();
        format!("<ListBucketResult>{keys}{end}</ListBucketResult>")
    }

    #[test]
    fn pages_follow_until_one_is_whole() {
        let mut list = KeyList::new("a b");
        assert_eq!(list.query(), "max-keys=1000&prefix=a%20b");
        let more = "<IsTruncated>true</IsTruncated>";
        assert!(list.add(&page(&["1"], &format!("{more}<NextMarker>m</NextMarker>"))).unwrap());
        assert_eq!(list.query(), "marker=m&max-keys=1000&prefix=a%20b");
        // Without a marker, the last key is one.
        assert!(list.add(&page(&["2"], more)).unwrap());
        assert_eq!(list.query(), "marker=2&max-keys=1000&prefix=a%20b");
        // A page that leads to itself is the last one.
        assert!(!list.add(&page(&[], more)).unwrap());
        assert_eq!(list.into_keys(), ["1", "2"]);
        assert!(KeyList::new("").add("oops").is_err());
    }
}
