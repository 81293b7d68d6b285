//! Objects of the large stores over HTTPS, and folders of them: public ones, and those that keys or a token open.
//!
//! Owns the addresses of both stores and how a folder is listed and brought. Which credentials count is [`super::aws_credentials`]'s business.

use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use base::env::{self, Environment};
use base::files::named;
use base::limits::Limit;
use base::secret::Secret;
use futures_util::{StreamExt, TryStreamExt, stream};
use gotext::hex::hex;
use net::cloud;
use net::http::Request;
use net::percent::encoded;
use reqsign_aws_v4::{Credential, RequestSigner};
use reqsign_core::{Context, SignRequest};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use url::Url;

use super::address::Address;
use super::{FetchError, Fetcher, aws_credentials, percent_decoded};

/// Objects of a folder that come side by side.
const AT_ONCE: usize = 8;

/// A place in a store: an object, or the folder of that name.
pub struct Bucket {
    kind: Service,
    /// `https://host`, without a slash behind.
    base: String,
    /// Empty where the host's name says it.
    bucket: String,
    key: String,
    /// Of the address, for requests of the object itself; decoded.
    parameters: Vec<(String, String)>,
}

enum Service {
    S3 { region: String, keys: Option<Credential>, context: Context },
    Gcs { token: Option<Secret> },
}

impl Bucket {
    pub async fn open(fetcher: &Fetcher, address: &Address) -> Result<Bucket, FetchError> {
        if address.method == "gcs" {
            return gcs(address, &fetcher.environment);
        }
        let mut address = address.clone();
        let is_signed = address.parameters.iter().any(|(name, _)| name.eq_ignore_ascii_case("x-amz-signature"));
        let at_home = address.to_url()?.host_str().is_some_and(is_amazon_host);
        let context = cloud::client_context(&fetcher.environment, &fetcher.http);
        let keys = match is_signed {
            true => None,
            false => aws_credentials::find(&mut address, at_home, &fetcher.environment, &context).await?,
        };
        s3(address, keys, &fetcher.environment, context)
    }

    /// The object of exactly this name.
    pub async fn object(&self) -> Result<Request, FetchError> {
        self.request(&self.path(&self.key), self.parameters.clone()).await
    }

    fn path(&self, key: &str) -> String {
        if self.bucket.is_empty() { format!("/{key}") } else { format!("/{}/{key}", self.bucket) }
    }

    async fn request(&self, path: &str, mut parameters: Vec<(String, String)>) -> Result<Request, FetchError> {
        parameters.sort();
        let mut text = format!("{}{}", self.base, encoded(path, true));
        for (i, (name, value)) in parameters.iter().enumerate() {
            let joint = if i == 0 { '?' } else { '&' };
            text.push_str(&format!("{joint}{}={}", encoded(name, false), encoded(value, false)));
        }
        let url = Url::parse(&text).map_err(|e| FetchError::new(format!("the address of the store: {e}")))?;
        match &self.kind {
            Service::S3 { keys: None, .. } => Ok(Request::get(url)),
            Service::S3 { region, keys: Some(keys), context } => signed(url, region, keys, context).await,
            Service::Gcs { token } => Ok(Request::get(url).token(token.as_ref())),
        }
    }

    /// The error for a refused object, if the store gives no reason.
    pub fn refused(&self) -> FetchError {
        FetchError::new(match &self.kind {
            Service::S3 { keys: Some(keys), .. } => {
                format!("bad response code: 403 (asked with the AWS key {})", keys.access_key_id)
            }
            Service::S3 { keys: None, .. } => {
                "bad response code: 403 (asked without AWS keys: there are none)".to_owned()
            }
            Service::Gcs { token: Some(_) } => "bad response code: 403".to_owned(),
            Service::Gcs { token: None } => {
                "bad response code: 403 (asked without a token: GOOGLE_OAUTH_ACCESS_TOKEN is not set)".to_owned()
            }
        })
    }

    /// Brings everything below the name to a folder.
    pub async fn folder(&self, fetcher: &Fetcher, target: &Path) -> Result<(), FetchError> {
        let prefix = match self.key.trim_end_matches('/') {
            "" => String::new(),
            key => format!("{key}/"),
        };
        let names = self.list(fetcher, &prefix).await?;
        if names.is_empty() {
            return Err(FetchError::new(format!(
                "there are no objects below {prefix:?}, and its name is not that of an archive"
            )));
        }
        let left = AtomicU64::new(fetcher.limits.bytes);
        let (left, prefix) = (&left, prefix.as_str());
        let brought = names.iter().filter(|name| !name.ends_with('/')).map(|name| async move {
            let place = below(name.strip_prefix(prefix).unwrap_or(name))?;
            self.bring(fetcher, name, &target.join(place), left).await
        });
        std::fs::create_dir_all(target).map_err(|e| named(e, "create", target))?;
        stream::iter(brought.collect::<Vec<_>>()).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
        Ok(())
    }

    async fn bring(&self, fetcher: &Fetcher, name: &str, place: &Path, left: &AtomicU64) -> Result<(), FetchError> {
        let folder = place.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| named(e, "create", folder))?;
        let mut file = std::fs::File::create_new(place).map_err(|e| named(e, "create", place))?;
        let request = self.request(&self.path(name), Vec::new()).await?;
        let limit = Limit { bytes: left.load(Ordering::Relaxed), setting: Some(env::TERRANE_MODULE_SIZE_LIMIT) };
        let answer = fetcher.http.download(&request, &mut file, limit, &|_, _| {}).await?;
        match answer.status.as_u16() {
            200 => {}
            403 => return Err(self.refused()),
            status => return Err(FetchError::new(format!("{name}: bad response code: {status}"))),
        }
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(size)).map(drop).map_err(|_| {
            let mib = fetcher.limits.bytes >> 20;
            FetchError::new(format!("the folder holds more than {mib} MiB (see TERRANE_MODULE_SIZE_LIMIT)"))
        })
    }

    /// The names of all objects below a prefix.
    async fn list(&self, fetcher: &Fetcher, prefix: &str) -> Result<Vec<String>, FetchError> {
        let (mut names, mut next) = (Vec::new(), None::<String>);
        loop {
            let answer = fetcher.http.send(&self.page(prefix, next.take()).await?).await?;
            match answer.status.as_u16() {
                200 => {}
                403 => return Err(self.refused()),
                status => return Err(FetchError::new(format!("listing the objects: bad response code: {status}"))),
            }
            let page = match &self.kind {
                Service::S3 { .. } => s3_page(&answer.text())?,
                Service::Gcs { .. } => gcs_page(&answer.text())?,
            };
            names.extend(page.0);
            if names.len() > fetcher.limits.entries {
                return Err(FetchError::new(format!("the folder has more than {} objects", fetcher.limits.entries)));
            }
            match page.1.filter(|token| !token.is_empty()) {
                Some(token) => next = Some(token),
                None => return Ok(names),
            }
        }
    }

    async fn page(&self, prefix: &str, token: Option<String>) -> Result<Request, FetchError> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let (path, mut parameters, token_name) = match &self.kind {
            Service::S3 { .. } => {
                let parameters = vec![pair("list-type", "2"), pair("encoding-type", "url")];
                (
                    self.path("").trim_end_matches('/').to_owned() + if self.bucket.is_empty() { "/" } else { "" },
                    parameters,
                    "continuation-token",
                )
            }
            Service::Gcs { .. } => (format!("/storage/v1/b/{}/o", self.bucket), Vec::new(), "pageToken"),
        };
        parameters.push(pair("prefix", prefix));
        parameters.extend(token.map(|token| (token_name.to_owned(), token)));
        self.request(&path, parameters).await
    }
}

/// A GET with a signature. All of its headers are for the store alone.
async fn signed(url: Url, region: &str, keys: &Credential, context: &Context) -> Result<Request, FetchError> {
    let failed = |why: String| FetchError::new(format!("signing the request: {why}"));
    let empty = hex(&Sha256::digest(b""));
    let head = http::Request::get(url.as_str()).header("x-amz-content-sha256", empty).body(());
    let (mut head, ()) = head.map_err(|e| failed(e.to_string()))?.into_parts();
    let signer = RequestSigner::new("s3", region);
    signer.sign_request(context, &mut head, Some(keys), None).await.map_err(|e| failed(e.to_string()))?;
    head.headers.remove(http::header::HOST);
    head.headers.values_mut().for_each(|value| value.set_sensitive(true));
    let mut request = Request::get(url);
    request.headers = head.headers;
    Ok(request)
}

/// Where an object belongs below the folder; never outside of it.
fn below(name: &str) -> Result<PathBuf, FetchError> {
    let path = PathBuf::from(name);
    match path.components().all(|c| matches!(c, Component::Normal(_))) && !name.is_empty() && !name.contains('\0') {
        true => Ok(path),
        false => Err(FetchError::new(format!("the object {name:?} would be outside of the folder"))),
    }
}

/// `https://s3.REGION.amazonaws.com/BUCKET/KEY`, `https://BUCKET.s3.REGION.amazonaws.com/KEY` and their older forms with a dash, or
/// `https://HOST/BUCKET/KEY` of any other host.
fn s3(
    mut address: Address,
    keys: Option<Credential>,
    environment: &Environment,
    context: Context,
) -> Result<Bucket, FetchError> {
    let url = address.to_url()?;
    let host = url.host_str().unwrap_or_default();
    let named = address.take("region");
    if let Some(version) = address.take("version") {
        address.parameters.push(("versionId".to_owned(), version));
    }
    let labels: Vec<&str> = host.split('.').collect();
    let is_amazon = is_amazon_host(host);
    // The label `s3`, `s3-REGION`, or `s3` before `REGION`.
    let at = labels.iter().position(|label| is_amazon && (*label == "s3" || label.starts_with("s3-")));
    let of_host = at.and_then(|at| match labels[at].strip_prefix("s3-") {
        Some(region) => Some(region),
        None => labels[at + 1..].iter().find(|l| **l != "dualstack").copied().filter(|label| *label != "amazonaws"),
    });
    let set = || environment.non_empty(env::AWS_REGION).or_else(|| environment.non_empty(env::AWS_DEFAULT_REGION));
    let region = match (of_host, named) {
        (Some(region), _) => region.to_owned(),
        (None, Some(region)) => region,
        (None, None) if is_amazon => "us-east-1".to_owned(),
        (None, None) => set().unwrap_or("us-east-1").to_owned(),
    };
    let path = address.path();
    let path = path.trim_start_matches('/');
    let (bucket, key) = match at {
        Some(at) if at > 0 => ("", path),
        _ => path.split_once('/').ok_or_else(|| {
            let what = if is_amazon { "S3" } else { "S3 compliant" };
            FetchError::new(format!("URL is not a valid {what} URL"))
        })?,
    };
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    let base = format!("{}://{host}{port}", url.scheme());
    let kind = Service::S3 { region, keys, context };
    Ok(Bucket { kind, base, bucket: bucket.to_owned(), key: key.to_owned(), parameters: address.parameters })
}

/// Whether a host belongs to Amazon. A host or path that only contains the name of one does not.
fn is_amazon_host(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    [".amazonaws.com", ".amazonaws.com.cn"].iter().any(|suffix| host.ends_with(suffix))
}

/// `https://www.googleapis.com/storage/v1/BUCKET/OBJECT`.
fn gcs(address: &Address, environment: &Environment) -> Result<Bucket, FetchError> {
    let path = address.path();
    let mut parts = path.splitn(5, '/').skip(3);
    let (Some(bucket), Some(object)) = (parts.next(), parts.next()) else {
        return Err(FetchError::new("URL is not a valid GCS URL"));
    };
    let base = match environment.non_empty(env::STORAGE_EMULATOR_HOST) {
        Some(host) if host.contains("://") => host.trim_end_matches('/').to_owned(),
        Some(host) => format!("http://{host}"),
        None => "https://storage.googleapis.com".to_owned(),
    };
    let token = environment.non_empty(env::GOOGLE_OAUTH_ACCESS_TOKEN).map(Secret::new);
    Ok(Bucket {
        kind: Service::Gcs { token },
        base,
        bucket: bucket.to_owned(),
        key: object.to_owned(),
        parameters: address.parameters.clone(),
    })
}

/// The names of a page of S3's, and the token for the next one. Names were asked for in their encoded form.
fn s3_page(xml: &str) -> Result<(Vec<String>, Option<String>), FetchError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Object {
        key: String,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Page {
        #[serde(default)]
        contents: Vec<Object>,
        next_continuation_token: Option<String>,
    }
    let page: Page =
        quick_xml::de::from_str(xml).map_err(|_| FetchError::new("listing the objects: the answer cannot be read"))?;
    let names = page.contents.iter().map(|object| percent_decoded(&object.key, true));
    Ok((names.collect(), page.next_continuation_token))
}

fn gcs_page(json: &str) -> Result<(Vec<String>, Option<String>), FetchError> {
    #[derive(Deserialize)]
    struct ListedObject {
        name: String,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Page {
        #[serde(default)]
        items: Vec<ListedObject>,
        next_page_token: Option<String>,
    }
    let page: Page = serde_json::from_str(json).map_err(|e| FetchError::new(format!("listing the objects: {e}")))?;
    Ok((page.items.into_iter().map(|item| item.name).collect(), page.next_page_token))
}

#[cfg(test)]
mod tests {
    use base::stop::Stop;
    use http::HeaderValue;
    use net::http::{Client, Settings};

    use super::*;

    fn context() -> Context {
        let (environment, stop) = (Environment::default(), Stop::new());
        let client = Client::new(Settings::for_packages(&environment, "x"), stop);
        cloud::client_context(&environment, &client)
    }

    async fn place(text: &str) -> (String, String) {
        let keys = Credential {
            access_key_id: "id".into(),
            secret_access_key: "s".into(),
            session_token: Some("t0ken".into()),
            expires_in: None,
        };
        let environment = Environment::of([("AWS_REGION", "of-env")]);
        let bucket = s3(Address::parse(text).unwrap(), Some(keys), &environment, context()).unwrap();
        let request = bucket.object().await.unwrap();
        assert!(request.headers.values().all(HeaderValue::is_sensitive), "{request:?}");
        assert_eq!(request.headers["x-amz-security-token"], "t0ken");
        let authorization = request.headers["authorization"].to_str().unwrap();
        (request.url.to_string(), authorization.split('/').nth(2).unwrap().to_owned())
    }

    #[tokio::test]
    async fn addresses() {
        let cases = [
            (
                "s3::https://s3.amazonaws.com/b/k.zip?version=1",
                "https://s3.amazonaws.com/b/k.zip?versionId=1",
                "us-east-1",
            ),
            (
                "s3::https://s3-eu-west-1.amazonaws.com/b/k/l.zip",
                "https://s3-eu-west-1.amazonaws.com/b/k/l.zip",
                "eu-west-1",
            ),
            ("s3::https://s3.eu-west-1.amazonaws.com/b/k", "https://s3.eu-west-1.amazonaws.com/b/k", "eu-west-1"),
            (
                "s3::https://b.c.s3.cn-north-1.amazonaws.com.cn/k%20l",
                "https://b.c.s3.cn-north-1.amazonaws.com.cn/k%20l",
                "cn-north-1",
            ),
            ("s3::https://b.s3-eu-west-1.amazonaws.com/a+b", "https://b.s3-eu-west-1.amazonaws.com/a%2Bb", "eu-west-1"),
            ("s3::http://127.0.0.1:9000/b/k?region=x", "http://127.0.0.1:9000/b/k", "x"),
            ("s3::https://minio.example/b/k", "https://minio.example/b/k", "of-env"),
            ("s3::https://s3.amazonaws.com.evil.example/b/k", "https://s3.amazonaws.com.evil.example/b/k", "of-env"),
        ];
        for (text, url, region) in cases {
            assert_eq!(place(text).await, (url.to_owned(), region.to_owned()), "{text}");
        }
        let short = Address::parse("s3::https://h.example/b").unwrap();
        assert!(s3(short, None, &Environment::default(), context()).is_err());
        let address = Address::parse("gcs::https://www.googleapis.com/storage/v1/b/d/k.zip").unwrap();
        let bucket = gcs(&address, &Environment::of([("GOOGLE_OAUTH_ACCESS_TOKEN", "t")])).unwrap();
        let request = bucket.object().await.unwrap();
        assert_eq!(request.url.as_str(), "https://storage.googleapis.com/b/d/k.zip");
        assert_eq!(request.headers["authorization"], "Bearer t");
    }

    #[test]
    fn amazon_hosts() {
        for host in
            ["s3.amazonaws.com", "b.s3.eu-west-1.AMAZONAWS.com", "s3.cn-north-1.amazonaws.com.cn", "s3.amazonaws.com."]
        {
            assert!(is_amazon_host(host), "{host}");
        }
        for host in ["s3.amazonaws.com.evil.example", "evilamazonaws.com", "amazonaws.com.example", "h.example", ""] {
            assert!(!is_amazon_host(host), "{host}");
        }
    }

    #[test]
    fn pages() {
        let xml = "<R><Contents><Key>a%2Fb+c</Key></Contents><Contents><Key>d&amp;</Key></Contents>\
                   <NextContinuationToken>t&lt;</NextContinuationToken></R>";
        assert_eq!(s3_page(xml).unwrap(), (vec!["a/b c".to_owned(), "d&".to_owned()], Some("t<".to_owned())));
        assert!(s3_page("<Key>a").is_err());
        assert!(gcs_page("{").is_err());
        assert_eq!(gcs_page("{\"items\":[{\"name\":\"x\"}]}").unwrap(), (vec!["x".to_owned()], None));
        for name in ["../a", "/a", "a/../../b", ""] {
            assert!(below(name).is_err(), "{name}");
        }
        assert_eq!(below("a/b.tf").unwrap(), PathBuf::from("a/b.tf"));
    }
}
