policytest {
  targets = ["names.policy.hcl"]
}

locals {
  kinds = ["orders", "mails"]
  names = [for index in range(2) : "live-${local.kinds[index]}-0${index + 1}"]
}

resource "google_storage_bucket" "good" {
  attrs = {
    name = local.names[1]
  }
}

resource "google_storage_bucket" "other" {
  expect_failure = true

  attrs = {
    name = "${local.names[0]}-copy"
  }
}

resource "google_service_account" "good" {
  attrs = {
    account_id  = "mailer"
    description = "Managed by the mail team"
    roles       = { bucket = ["reader"] }
    disabled    = false
    key         = null
  }
}

resource "google_service_account" "special" {
  expect_failure = true

  attrs = {
    account_id  = "Root-of-mails"
    description = "Managed by the mail team"
    roles       = {}
    disabled    = true
    key         = "k1"
  }
}

resource "google_service_account" "unmanaged" {
  expect_failure = true

  attrs = {
    account_id  = "mailer"
    description = ""
    roles       = {}
    disabled    = true
    key         = "k1"
  }
}
