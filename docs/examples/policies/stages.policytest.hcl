policytest {
  targets = ["stages.policy.hcl"]
}

locals {
  stage = "live"
  sizes = {
    small = { type = "cx22" }
    large = { type = "cx52" }
  }
  type  = local.stage == "live" ? local.sizes.large.type : local.sizes.small.type
  place = data.hcloud_location.first.name
}

data "hcloud_location" "first" {
  attrs = {
    name = "fsn1"
    city = "Falkenstein"
  }
}

data "hcloud_datacenter" "first" {
  attrs = {
    name     = "${local.place}-dc14"
    location = data.hcloud_location.first.name
  }
}

data "hcloud_ssh_keys" "all" {
  attrs = {
    names = jsonencode({ first = ["a", "b"] })
  }
}

resource "hcloud_server" "live" {
  attrs = {
    server_type = local.type
    location    = data.hcloud_datacenter.first.location
    labels      = { stage = local.stage }
    user_data   = data.hcloud_ssh_keys.all.names
  }
}

resource "hcloud_server" "live_but_small" {
  expect_failure = true

  attrs = {
    server_type = local.sizes.small.type
    location    = local.place
    labels      = { stage = local.stage }
  }
}

resource "hcloud_server" "trial" {
  attrs = {
    server_type = local.sizes.small.type
    location    = "hel1"
    labels      = { stage = "trial" }
  }
}

resource "hcloud_server" "trial_elsewhere" {
  expect_failure = true

  attrs = {
    server_type = local.sizes.small.type
    location    = local.place
    labels      = { stage = "trial" }
  }
}
