policytest {
  targets = ["modules.policy.hcl"]
}

module "./parts/network" "local" {
  meta = {
    source = "./parts/network"
  }

  attrs = {
    range = "10.4.0.0/16"
    zones = ["a", "b"]
    names = { first = "front" }
  }
}

module "./parts/network" "small_range" {
  expect_failure = true

  meta = {
    source = "./parts/network"
  }

  attrs = {
    range = "10.4.0.0/24"
  }
}

module "git::https://git.example.com/parts.git//dns" "git" {
  meta = {
    source = "git::https://git.example.com/parts.git//dns"
  }
}

module "git::https://git.example.net/parts.git//dns" "unknown_source" {
  expect_failure = true

  meta = {
    source = "git::https://git.example.net/parts.git//dns"
  }
}

module "modules.example.com/base/queue/google" "queue" {
  meta = {
    source  = "modules.example.com/base/queue/google"
    version = "2.4.1"
    address = "module.orders"
  }
}

# An advisory policy warns, and that is what the test expects.
module "modules.example.com/base/queue/google" "old_queue" {
  expect_failure = true

  meta = {
    source  = "modules.example.com/base/queue/google"
    version = "2.0.9"
  }
}

module "modules.example.com/base/queue/google" "prerelease" {
  expect_failure = true

  meta = {
    source  = "modules.example.com/base/queue/google"
    version = "2.5.0-rc1"
  }
}

module "modules.example.com/base/cluster/google" "oldest" {
  meta = {
    source  = "modules.example.com/base/cluster/google"
    version = input.oldest_cluster
  }
}

module "modules.example.com/base/cluster/google" "too_new" {
  expect_failure = true

  meta = {
    source  = "modules.example.com/base/cluster/google"
    version = "5.0.0"
  }
}

module "modules.example.com/base/cluster/google" "older_allowed" {
  inputs {
    oldest_cluster = "2.2.0"
  }

  meta = {
    source  = "modules.example.com/base/cluster/google"
    version = "2.2.0"
  }
}
