policytest {
  targets = ["logs.policy.hcl"]
}

resource "google_storage_bucket" "audit" {
  attrs = {
    name     = "audit"
    location = "US"
    labels   = { kind = "logs" }
  }
}

resource "google_storage_bucket" "first" {
  expect_failure = true

  attrs = {
    name     = "logs-1"
    location = "EU"
    labels   = { kind = "logs" }
  }
}

# Only for others to find.
resource "google_storage_bucket" "second" {
  skip = true

  attrs = {
    name     = "logs-2"
    location = "EU"
    labels   = { kind = "logs" }
  }
}

resource "google_storage_bucket_acl" "audit" {
  attrs = {
    bucket         = google_storage_bucket.audit.name
    predefined_acl = "private"
  }
}

resource "google_storage_bucket_acl" "first" {
  skip = true

  attrs = {
    bucket         = google_storage_bucket.first.name
    predefined_acl = "publicRead"
  }
}

resource "google_logging_project_sink" "private" {
  attrs = {
    name        = "requests"
    destination = google_storage_bucket_acl.audit.bucket
  }
}

resource "google_logging_project_sink" "public" {
  expect_failure = true

  attrs = {
    name        = "errors"
    destination = google_storage_bucket_acl.first.bucket
  }
}

resource "google_logging_project_sink" "no_access_control" {
  expect_failure = true

  attrs = {
    name        = "metrics"
    destination = "nowhere"
  }
}
