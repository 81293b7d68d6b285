//! Requests to OCI registries: tags, manifests and blobs of a repository.

use std::io::{self, Write};

use base::limits::Limit;
use http::header::ACCEPT;
use model::service::oci_repository::Repository;
use net::http::{Answer, Client, Failure, FailureKind, Progress, Request};
use serde::Deserialize;
use url::Url;

use super::access::{Access, RegistryLogin};
use super::digest::{Digest, Summing};
use super::{Logins, OciError};

pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Registries must accept manifests of this size; larger ones are refused.
const LARGEST_MANIFEST: Limit = Limit::bytes(4 << 20);

/// So often at most a request is sent with other credentials: an access token may have expired.
const MOST_LOGINS: usize = 2;

/// A client for all registries of a command. They are reached over HTTPS.
pub struct OciClient {
    http: Client,
    access: Access,
}

/// What refers to a manifest or a blob.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    #[serde(default)]
    pub media_type: String,
    #[serde(default)]
    pub artifact_type: String,
    pub digest: String,
    pub platform: Option<ImagePlatform>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct ImagePlatform {
    pub os: String,
    pub architecture: String,
}

impl OciClient {
    pub fn new(http: Client, logins: Logins) -> OciClient {
        OciClient { http, access: Access::new(logins) }
    }

    /// An answer of status 200 or 404.
    pub async fn ask(&self, repository: &Repository, url: Url, accept: &str) -> Result<Answer, OciError> {
        self.ask_within(repository, url, accept, None).await
    }

    async fn ask_within(
        &self,
        repository: &Repository,
        url: Url,
        accept: &str,
        limit: Option<Limit>,
    ) -> Result<Answer, OciError> {
        let mut shown = self.access.known(repository);
        for logins in 0.. {
            let mut request = shown.show(Request::get(url.clone()).header(ACCEPT, accept));
            request.answer_limit = limit;
            let answer = self.http.send(&request).await.map_err(|e| unanswered(repository, &e))?;
            match self.next_login(repository, &url, &answer, &shown, logins).await? {
                None => return Ok(answer),
                Some(next) => shown = next,
            }
        }
        Err(refused(repository, &shown))
    }

    /// None: the answer has status 200 or 404. Otherwise, what to show instead, if `url` itself asks for it: hosts that it leads to
    /// are not authorized.
    async fn next_login(
        &self,
        repository: &Repository,
        url: &Url,
        answer: &Answer,
        shown: &RegistryLogin,
        logins: usize,
    ) -> Result<Option<RegistryLogin>, OciError> {
        let challenge = answer.header("www-authenticate").unwrap_or_default();
        match answer.status.as_u16() {
            200 | 404 => Ok(None),
            401 if answer.url.origin() == url.origin()
                && (logins == 0 || (logins < MOST_LOGINS && shown.is_renewable())) =>
            {
                self.access.answer(&self.http, repository, challenge, shown).await.map(Some)
            }
            401 | 403 => Err(refused(repository, shown)),
            status => Err(failed(repository, &format!("server returned unsuccessful status {status}"))),
        }
    }

    /// The manifest that a tag or a digest selects, whose digest is checked. None: there is none.
    pub async fn manifest(
        &self,
        repository: &Repository,
        reference: &str,
        accept: &str,
    ) -> Result<Option<Vec<u8>>, OciError> {
        let url = address(repository, &format!("manifests/{reference}"))?;
        let answer = self.ask_within(repository, url, accept, Some(LARGEST_MANIFEST)).await?;
        if answer.status.as_u16() == 404 {
            return Ok(None);
        }
        if reference.contains(':') {
            let digest = Digest::parse(reference).map_err(|why| failed(repository, &why.to_string()))?;
            let found = digest.of_same_kind(&answer.body);
            if found != digest {
                return Err(failed(repository, &format!("the manifest for {reference} has other content: {found}")));
            }
        }
        Ok(Some(answer.body))
    }

    /// The request for a blob, with what the registry accepted for its manifest.
    pub fn blob_request(&self, repository: &Repository, digest: &str) -> Result<Request, OciError> {
        let request = Request::get(address(repository, &format!("blobs/{digest}"))?);
        Ok(self.access.known(repository).show(request))
    }

    /// Writes a blob, whose digest is checked.
    pub async fn download(
        &self,
        repository: &Repository,
        digest: &Digest,
        into: &mut (dyn Write + Send),
        limit: Limit,
        progress: Progress<'_>,
    ) -> Result<(), OciError> {
        let url = address(repository, &format!("blobs/{digest}"))?;
        let mut shown = self.access.known(repository);
        for logins in 0.. {
            let mut summed = SummedWriter { into, sum: digest.start() };
            let request = shown.show(Request::get(url.clone()));
            let answer = self.http.download(&request, &mut summed, limit, progress).await;
            let answer = answer.map_err(|e| unanswered(repository, &e))?;
            match (self.next_login(repository, &url, &answer, &shown, logins).await?, answer.status.as_u16()) {
                (Some(next), _) => shown = next,
                (None, 404) => return Err(failed(repository, &format!("there is no blob {digest}"))),
                (None, _) => {
                    let found = summed.sum.finish();
                    return match found == *digest {
                        true => Ok(()),
                        false => Err(failed(repository, &format!("the blob {digest} has other content: {found}"))),
                    };
                }
            }
        }
        Err(refused(repository, &shown))
    }
}

/// Passes bytes on and sums them.
struct SummedWriter<'a> {
    into: &'a mut (dyn Write + Send),
    sum: Summing,
}

impl Write for SummedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.into.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

fn unanswered(repository: &Repository, failure: &Failure) -> OciError {
    match failure.kind {
        FailureKind::Stopped => OciError::Interrupted,
        FailureKind::Unreachable | FailureKind::TimedOut => {
            OciError::Unreachable { host: repository.registry.clone(), why: failure.to_string() }
        }
        _ => failed(repository, &failure.to_string()),
    }
}

fn refused(repository: &Repository, shown: &RegistryLogin) -> OciError {
    OciError::Unauthorized { host: repository.registry.clone(), had_credentials: shown.are_users() }
}

/// Anything else that is wrong with a repository.
pub fn failed(repository: &Repository, why: &str) -> OciError {
    OciError::Failed(format!("failed to query the OCI repository {repository}: {why}"))
}

/// An address below a repository.
pub fn address(repository: &Repository, path: &str) -> Result<Url, OciError> {
    let (host, name) = (repository.host(), &repository.name);
    Url::parse(&format!("https://{host}/v2/{name}/{path}")).map_err(|e| failed(repository, &e.to_string()))
}

pub fn decode<'a, T: Deserialize<'a>>(repository: &Repository, body: &'a [u8]) -> Result<T, OciError> {
    serde_json::from_slice(body).map_err(|e| failed(repository, &format!("invalid response content: {e}")))
}
