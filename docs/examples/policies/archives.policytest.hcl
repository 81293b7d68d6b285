policytest {
  targets = ["archives.policy.hcl"]
}

inputs {
  keep = true
  days = 60
}

resource "google_storage_bucket" "good" {
  attrs = {
    name             = "arc-1"
    location         = "EU"
    versioning       = [{ enabled = input.keep }]
    retention_policy = [{ days = input.days }]
  }
}

resource "google_storage_bucket" "no_versions" {
  expect_failure = true

  attrs = {
    name             = "arc-2"
    location         = "EU"
    versioning       = [{ enabled = false }]
    retention_policy = [{ days = 90 }]
  }
}

resource "google_storage_bucket" "versions_not_needed" {
  inputs {
    keep = false
  }

  attrs = {
    name             = "arc-3"
    location         = "EU"
    versioning       = [{ enabled = false }]
    retention_policy = [{ days = 90 }]
  }
}

resource "google_storage_bucket" "too_short" {
  expect_failure = true

  attrs = {
    name             = "arc-4"
    location         = "EU"
    versioning       = [{ enabled = true }]
    retention_policy = [{ days = 59 }]
  }
}

resource "google_storage_bucket" "advice" {
  inputs {
    archives-level = "advisory"
  }

  attrs = {
    name             = "arc-5"
    location         = "EU"
    versioning       = [{ enabled = true }]
    retention_policy = [{ days = 1 }]
  }
}

resource "google_storage_bucket" "other_region" {
  expect_failure = true

  inputs {
    region = "EU"
  }

  attrs = {
    name             = "arc-6"
    location         = "US"
    versioning       = [{ enabled = true }]
    retention_policy = [{ days = 90 }]
  }
}

resource "google_storage_bucket" "other_name" {
  expect_failure = true

  attrs = {
    name             = "box-7"
    location         = "EU"
    versioning       = [{ enabled = true }]
    retention_policy = [{ days = 90 }]
  }
}
