policytest {
  targets = ["places.policy.hcl"]
}

resource "google_pubsub_topic" "in_module" {
  meta = {
    module_path   = "module.orders"
    provider_type = "google"
    type          = "google_pubsub_topic"
  }

  attrs = {
    name = "orders"
  }
}

resource "google_pubsub_topic" "in_root" {
  expect_failure = true

  meta = {
    module_path = "."
  }

  attrs = {
    name = "orders"
  }
}

resource "google_pubsub_topic" "deleted_in_live" {
  expect_failure = true

  meta = {
    module_path = "module.orders"
    operation   = "delete"
    tfe_workspace = {
      tags = { env = "live" }
    }
  }

  prior_attrs = {
    name = "orders"
  }
}

resource "google_pubsub_topic" "deleted" {
  meta = {
    operation = "delete"
  }

  prior_attrs = {
    name = "orders"
  }
}

resource "google_pubsub_topic" "stack" {
  expect_failure = true

  meta = {
    module_path = "module.orders"
    tfe_stack = {
      stack_name       = "shop"
      deployment_name  = "live"
      deployment_group = "asia"
    }
  }

  attrs = {
    name = "orders"
  }
}

resource "hcloud_network" "in_root" {
  attrs = {
    name = "front"
  }
}
