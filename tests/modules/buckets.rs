//! Modules in object stores: archives and folders, with keys from everywhere that they may come from.

use super::{calls, fixture};
use crate::support::Project;
use crate::support::server::{Asked, Reply, Server};

/// What the hosts of containers and of machines give.
const KEYS: &str = "{\"Code\":\"Success\",\"AccessKeyId\":\"id-token\",\"SecretAccessKey\":\"s\",\"Token\":\"t0ken\",\
                    \"Expiration\":\"2099-01-01T00:00:00Z\"}";

/// A store whose bucket is open to the key `id` with the token that it belongs to, if any.
fn store(asked: &Asked) -> Option<Reply> {
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    let header = |name: &str| asked.headers.get(name).map(String::as_str).unwrap_or_default();
    let authorization = header("authorization");
    let is_open = authorization.starts_with("AWS4-HMAC-SHA256 Credential=id-plain/")
        || (authorization.starts_with("AWS4-HMAC-SHA256 Credential=id-token/")
            && header("x-amz-security-token") == "t0ken");
    let signed = ["host;x-amz-content-sha256;x-amz-date", "/eu-west-9/s3/aws4_request"];
    if path.starts_with("/bucket") && !(is_open && signed.iter().all(|part| authorization.contains(part))) {
        return Some(Reply::status("403 Forbidden"));
    }
    Some(match (path, query) {
        ("/bucket/module.zip", "") => Reply::status("200 OK").body(fixture("module.zip")),
        ("/bucket", "encoding-type=url&list-type=2&prefix=vpc%2F") => Reply::status("200 OK").body(
            "<ListBucketResult><Contents><Key>vpc/main.tf</Key></Contents><Contents><Key>vpc/more/</Key></Contents>\
             <IsTruncated>true</IsTruncated><NextContinuationToken>a+b</NextContinuationToken></ListBucketResult>",
        ),
        ("/bucket", "continuation-token=a%2Bb&encoding-type=url&list-type=2&prefix=vpc%2F") => {
            Reply::status("200 OK").body("<ListBucketResult><Contents><Key>vpc/more/a+b%2B.txt</Key></Contents></ListBucketResult>")
        }
        ("/bucket", "encoding-type=url&list-type=2&prefix=evil%2F") => {
            Reply::status("200 OK").body("<ListBucketResult><Contents><Key>evil/../../x.tf</Key></Contents></ListBucketResult>")
        }
        ("/bucket", _) => Reply::status("200 OK").body("<ListBucketResult></ListBucketResult>"),
        ("/bucket/vpc/main.tf", "") => Reply::status("200 OK").body("output \"name\" { value = \"vpc\" }\n"),
        ("/bucket/vpc/more/a%20b%2B.txt", "") => Reply::status("200 OK").body("text"),
        ("/keys", _) if header("authorization") == "let me in" => {
            Reply::json(KEYS)
        }
        ("/", "") if asked.body.ends_with(b"RoleArn=arn%3Arole&RoleSessionName=me&WebIdentityToken=w3b") => {
            Reply::status("200 OK").body(
                "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>\
                 <AccessKeyId>id-token</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t0ken</SessionToken>\
                 <Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>\
                 </AssumeRoleWithWebIdentityResponse>",
            )
        }
        ("/", _) => Reply::status("403 Forbidden").body(
            "<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not you</Message></Error></ErrorResponse>",
        ),
        ("/latest/api/token", _) if asked.method == "PUT" => Reply::status("200 OK").body("m3tadata"),
        ("/latest/meta-data/iam/security-credentials/", _) if header("x-aws-ec2-metadata-token") == "m3tadata" => {
            Reply::status("200 OK").body("the-role")
        }
        ("/latest/meta-data/iam/security-credentials/the-role", _) => {
            Reply::json(KEYS)
        }
        ("/storage/v1/b/pail/o", "prefix=net%2F") if authorization == "Bearer g" => {
            Reply::json("{\"items\":[{\"name\":\"net/main.tf\"}]}")
        }
        ("/pail/net/main.tf", _) if authorization == "Bearer g" => Reply::status("200 OK").body("locals {}\n"),
        ("/storage/v1/b/pail/o", _) => Reply::status("403 Forbidden"),
        _ => Reply::status("404 Not Found"),
    })
}

fn project(prepare: impl FnOnce(&mut Project, &Server)) -> (Project, String) {
    let mut project = Project::new("");
    let server = Server::start(&mut project, store);
    prepare(&mut project, &server);
    (project, format!("s3::{}", server.url("/bucket")))
}

fn init(project: &Project, source: &str) -> crate::support::Outcome {
    let _ = std::fs::remove_dir_all(project.path("work/.terraform"));
    project.write("work/main.tf", &calls(&[("m", source)]));
    project.run(&["init"])
}

#[test]
fn keys_in_the_address() {
    let (project, bucket) = project(|_, _| {});
    let keys = "region=eu-west-9&aws_access_key_id=id-token&aws_access_key_secret=s3cret&aws_access_token=t0ken";
    init(&project, &format!("{bucket}/module.zip?{keys}")).expect(0, &[]);
    assert!(project.exists("work/.terraform/modules/m/sub/main.tf"));
    let outcome = init(&project, &format!("{bucket}/vpc?{keys}"));
    outcome.expect(0, &[]);
    assert_eq!(project.read("work/.terraform/modules/m/more/a b+.txt"), "text");
    assert!(!outcome.text().contains("s3cret") && !outcome.text().contains("t0ken"), "{}", outcome.text());
    let refused = [
        (format!("{bucket}/none?{keys}"), "there are no objects below \"none/\""),
        (format!("{bucket}/evil?{keys}"), "the object \"../../x.tf\" would be outside of the folder"),
        (format!("{bucket}/gone.zip?{keys}"), "bad response code: 404"),
        (format!("{bucket}/vpc?aws_access_key_id=id"), "must be given together"),
        (format!("{bucket}/module.zip"), "asked without AWS keys"),
        (format!("{bucket}/vpc?{}", keys.replace("id-token", "other")), "asked with the AWS key other"),
        (format!("{bucket}/vpc?aws_profile=none"), "no keys for the AWS profile \"none\""),
    ];
    for (source, text) in refused {
        let outcome = init(&project, &source);
        outcome.expect(1, &["Could not download module \"m\""]);
        assert!(outcome.text().replace("\n│ ", " ").replace('\n', " ").contains(text), "{text}: {}", outcome.text());
        assert!(!outcome.text().contains("s3cret") && !outcome.text().contains("t0ken"), "{}", outcome.text());
    }
    assert!(!project.exists("work/.terraform/x.tf") && !project.exists("work/.terraform/modules/x.tf"));
}

#[test]
fn keys_of_the_environment() {
    let (project, bucket) = project(|project, _| {
        project.set("AWS_ACCESS_KEY_ID", "id-token");
        project.set("AWS_SECRET_ACCESS_KEY", "s");
        project.set("AWS_SESSION_TOKEN", "t0ken");
        project.set("AWS_REGION", "eu-west-9");
    });
    init(&project, &format!("{bucket}/module.zip")).expect(0, &[]);
}

#[test]
fn keys_of_profiles() {
    let (project, bucket) = project(|project, _| project.set("AWS_REGION", "eu-west-9"));
    project.write("home/.aws/credentials", "[default]\naws_access_key_id = id-plain\naws_secret_access_key = s\n");
    let program = project.script(
        "keys.sh",
        "#!/bin/sh\n[ \"$1\" = 'a b' ] || exit 1\necho '{\"Version\":1,\"AccessKeyId\":\"id-plain\",\"SecretAccessKey\":\"s\"}'\n",
    );
    let config = format!("[profile sso]\ncredential_process = {} \"a b\"\n", program.display());
    project.write("home/.aws/config", &(config.clone() + &config.replace("sso", "bad").replace("a b", "c")));
    init(&project, &format!("{bucket}/module.zip")).expect(0, &[]);
    init(&project, &format!("{bucket}/vpc?aws_profile=sso")).expect(0, &[]);
    init(&project, &format!("{bucket}/vpc?aws_profile=bad")).expect(1, &["credential_process"]);
}

#[test]
fn keys_of_containers() {
    let (project, bucket) = project(|project, server| {
        project.set("AWS_REGION", "eu-west-9");
        project.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url("/keys"));
        project.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "let me in");
    });
    init(&project, &format!("{bucket}/module.zip")).expect(0, &[]);
}

#[test]
fn keys_of_machines_and_roles() {
    let (mut project, bucket) = project(|project, server| {
        project.set("AWS_REGION", "eu-west-9");
        project.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url(""));
        project.set("AWS_ENDPOINT_URL_STS", server.url(""));
    });
    let source = format!("{bucket}/module.zip");
    init(&project, &source).expect(0, &[]);
    project.set("AWS_EC2_METADATA_DISABLED", "true");
    init(&project, &source).expect(1, &["asked without AWS keys"]);
    project.set("AWS_ROLE_ARN", "arn:role");
    let token = project.write("token", "w3b\n");
    project.set("AWS_WEB_IDENTITY_TOKEN_FILE", &token);
    let outcome = init(&project, &source);
    outcome.expect(1, &["Not you"]);
    assert!(!outcome.text().contains("w3b"), "{}", outcome.text());
    project.set("AWS_ROLE_SESSION_NAME", "me");
    init(&project, &source).expect(0, &[]);
}

#[test]
fn the_other_store() {
    let (mut project, _) = project(|project, server| project.set("STORAGE_EMULATOR_HOST", server.url("")));
    let source = "gcs::https://www.googleapis.com/storage/v1/pail/net";
    init(&project, source).expect(1, &["GOOGLE_OAUTH_ACCESS_TOKEN"]);
    project.set("GOOGLE_OAUTH_ACCESS_TOKEN", "g");
    init(&project, source).expect(0, &[]);
    assert_eq!(project.read("work/.terraform/modules/m/main.tf"), "locals {}\n");
}
