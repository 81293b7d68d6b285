//! Objects of the large stores by HTTPS: public ones, those that a token opens, and those whose address is signed.

use crate::base::env::{self, Environment};
use crate::base::http::Request;
use crate::base::secret::Secret;

use super::FetchError;
use super::address::Address;

/// `https://s3.REGION.amazonaws.com/BUCKET/KEY`, or the like at any other host.
pub fn s3(address: &Address) -> Result<Request, FetchError> {
    let mut address = address.clone();
    let keys = ["aws_access_key_id", "aws_access_key_secret", "aws_access_token", "aws_profile"];
    if keys.iter().any(|key| address.take(key).is_some()) {
        return Err(FetchError::new(format!("keys and profiles for S3 are not supported yet: {UNSIGNED}")));
    }
    address.take("region");
    if let Some(version) = address.take("version") {
        address.parameters.push(("versionId".to_owned(), version));
    }
    Ok(Request::new(address.to_url()?))
}

/// `https://www.googleapis.com/storage/v1/BUCKET/OBJECT`.
pub fn gcs(address: &Address, environment: &Environment) -> Result<Request, FetchError> {
    let path = address.path();
    let mut parts = path.splitn(5, '/').skip(3);
    let (Some(bucket), Some(object)) = (parts.next(), parts.next()) else {
        return Err(FetchError::new("URL is not a valid GCS URL"));
    };
    let mut real = address.clone();
    real.url = format!("https://storage.googleapis.com/{bucket}/{object}");
    let token = environment.non_empty(env::GOOGLE_OAUTH_ACCESS_TOKEN).map(Secret::new);
    Ok(Request::new(real.to_url()?).token(token))
}

const UNSIGNED: &str = "requests are not signed, so the object must be public, or its https address presigned";

pub fn refused(method: &str) -> FetchError {
    FetchError::new(format!("bad response code: 403 ({method}: {UNSIGNED})"))
}

pub fn no_folders() -> FetchError {
    FetchError::new("folders of object stores are not supported yet: name an archive, such as PATH.zip")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects() {
        let address = Address::parse("s3::https://s3.amazonaws.com/b/k.zip?version=1&region=x").unwrap();
        assert_eq!(s3(&address).unwrap().url.as_str(), "https://s3.amazonaws.com/b/k.zip?versionId=1");
        let address = Address::parse("gcs::https://www.googleapis.com/storage/v1/b/d/k.zip").unwrap();
        let request = gcs(&address, &Environment::of([("GOOGLE_OAUTH_ACCESS_TOKEN", "t")])).unwrap();
        assert_eq!(request.url.as_str(), "https://storage.googleapis.com/b/d/k.zip");
        assert_eq!(request.token.unwrap().reveal(), "t");
        let address = Address::parse("s3::https://s3.amazonaws.com/b/k.zip?aws_profile=x").unwrap();
        assert!(s3(&address).is_err());
    }
}
