policytest {
  targets = ["labels.policy.hcl"]
}

locals {
  common = {
    team  = "search"
    stage = "live"
  }
}

resource "google_compute_instance" "labelled" {
  attrs = {
    machine_type = "e2-small"
    labels       = merge(local.common, { mail = "search" })
  }
}

resource "google_compute_instance" "no_contact" {
  expect_failure = true

  attrs = {
    machine_type = "e2-small"
    labels       = local.common
  }
}

resource "google_compute_instance" "other_stage" {
  expect_failure = true

  attrs = {
    machine_type = "e2-small"
    labels       = merge(local.common, { mail = "search", stage = "play" })
  }
}

resource "google_compute_instance" "more_stages" {
  inputs {
    rules = {
      needed = ["team"]
      stages = ["play"]
    }
  }

  attrs = {
    machine_type = "e2-small"
    labels       = merge(local.common, { chat = "search", stage = "play" })
  }
}

resource "google_storage_bucket" "one_label" {
  attrs = {
    labels = { team = "search" }
  }
}

resource "google_storage_bucket" "no_label" {
  expect_failure = true

  attrs = {
    labels = {}
  }
}

resource "google_storage_bucket" "null_labels" {
  expect_failure = true

  attrs = {
    name   = "raw"
    labels = null
  }
}

# Of another provider.
resource "hcloud_volume" "other" {
  attrs = {
    labels = {}
  }
}
