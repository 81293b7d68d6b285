//! Packages over HTTP that are no archives: the host says where the package is, in a header or in a page.

use std::path::Path;

use base::secret::redacted;
use model::config::module_source::{self, SourceError};
use net::http::{Progress, Request};

use super::address::Address;
use super::{FetchError, Fetched, Fetcher, netrc};

/// Hosts may point to other hosts so often.
const MOST_LED: usize = 10;

/// The request for an address, with the user's login if the address contains none.
pub fn request(fetcher: &Fetcher, address: &Address) -> Result<Request, FetchError> {
    let url = address.to_url()?;
    let open = url.username().is_empty() && url.password().is_none();
    let login = url.host_str().filter(|_| open).and_then(|host| netrc::login(&fetcher.environment, host));
    Ok(Request::get(url).login(login.as_ref()))
}

/// Asks with `terraform-get=1` and gets what the answer names.
pub async fn follow(
    fetcher: &Fetcher,
    address: &Address,
    target: &Path,
    led: usize,
    progress: Progress<'_>,
) -> Result<Fetched, FetchError> {
    if led >= MOST_LED {
        return Err(FetchError::new(format!("too many X-Terraform-Get redirects: {led}")));
    }
    let mut asked = address.clone();
    asked.parameters.push(("terraform-get".to_owned(), "1".to_owned()));
    let answer = fetcher.http.send(&request(fetcher, &asked)?).await?;
    if !answer.status.is_success() {
        return Err(FetchError::new(format!("bad response code: {}", answer.status.as_u16())));
    }
    let header = answer.header("x-terraform-get").filter(|text| !text.is_empty()).map(str::to_owned);
    let Some(named) = header.or_else(|| meta(&answer.text())) else {
        return Err(FetchError::new("no source URL was returned"));
    };
    let named = match named.starts_with(['/', '.']) {
        true => answer.url.join(&named).map_or(named.clone(), |url| url.to_string()),
        false => named,
    };
    let source = module_source::parse_remote(&named).map_err(|e| {
        let why = match e {
            SourceError::MaybeRelative => "it names no method".to_owned(),
            SourceError::Invalid(why) => why,
        };
        FetchError::new(format!("invalid source URL {:?}: {why}", redacted(&named)))
    })?;
    // A host must not reach into the files of this machine.
    if module_source::split_method(&source.package).1.starts_with("file:") {
        return Err(FetchError::new("no getter available for X-Terraform-Get source protocol: \"file\""));
    }
    if source.folder.is_empty() {
        return fetcher.fetch_led(&source.package, target, led + 1, progress).await;
    }
    let beside = tempfile::Builder::new().prefix("package-").tempdir_in(target.parent().unwrap_or(Path::new(".")))?;
    let whole = beside.path().join("p");
    fetcher.fetch_led(&source.package, &whole, led + 1, progress).await?;
    let folder =
        crate::modules::folders::sub_folder(&whole, &source.folder).map_err(|why| FetchError::new(why.to_string()))?;
    std::fs::rename(&folder, target)
        .map_err(|e| FetchError::new(format!("Error downloading {}: {e}", redacted(&source.package))))?;
    Ok(Fetched::Files)
}

/// What `<meta name="terraform-get" content="...">` in a page's head names.
fn meta(page: &str) -> Option<String> {
    let lower = page.to_ascii_lowercase();
    let end = ["<body", "</head"].iter().filter_map(|tag| lower.find(tag)).min().unwrap_or(lower.len());
    let mut from = 0;
    while let Some(start) = lower[from..end].find("<meta").map(|at| from + at) {
        let close = page[start..].find('>').map_or(page.len(), |at| start + at);
        let tag = &page[start + 5..close];
        if attribute(tag, "name").as_deref() == Some("terraform-get")
            && let Some(content) = attribute(tag, "content").filter(|text| !text.is_empty())
        {
            return Some(content);
        }
        from = close.min(end);
    }
    None
}

fn attribute(tag: &str, wanted: &str) -> Option<String> {
    let mut rest = tag.trim_start();
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| *c == '"' || *c == '\'');
        let (value, next) = match quote {
            Some(quote) => after[1..].split_once(quote)?,
            None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            let plain = [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&#38;", "&"), ("&amp;", "&")];
            return Some(plain.iter().fold(value.to_owned(), |text, (code, c)| text.replace(code, c)));
        }
        rest = next.trim_start();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages() {
        let page = "<html><head><META charset=utf-8><meta content='https://x/a.zip?a=1&amp;b=2' name=\"terraform-get\" /></head>";
        assert_eq!(meta(page).as_deref(), Some("https://x/a.zip?a=1&b=2"));
        assert_eq!(meta("<head></head><body><meta name=terraform-get content=x></body>"), None);
        assert_eq!(meta("<meta name=terraform-get content=x"), Some("x".to_owned()));
        assert_eq!(meta("<meta name='terraform-get"), None);
    }
}
