policytest {
  targets = ["changes.policy.hcl"]
}

resource "hcloud_volume" "created" {
  attrs = {
    size   = 10
    format = "xfs"
  }
}

resource "hcloud_volume" "created_with_old_format" {
  expect_failure = true

  attrs = {
    size   = 10
    format = "ext4"
  }
}

# With both, it is an update.
resource "hcloud_volume" "larger" {
  prior_attrs = {
    size   = 10
    format = "ext4"
  }

  attrs = {
    size   = 20
    format = "ext4"
  }
}

resource "hcloud_volume" "same" {
  meta = {
    operation = "update"
  }

  prior_attrs = {
    size   = 10
    labels = {}
  }

  attrs = {
    size   = 10
    labels = { stage = "live" }
  }
}

resource "hcloud_volume" "smaller" {
  expect_failure = true

  prior_attrs = {
    size = 20
  }

  attrs = {
    size = 10
  }
}

resource "hcloud_volume" "deleted" {
  expect_failure = true

  meta = {
    operation = "delete"
  }

  prior_attrs = {
    id = null
  }
}

resource "hcloud_volume" "deleted_trial" {
  prior_attrs = {
    labels = { stage = "trial" }
  }
}

resource "hcloud_load_balancer" "unchanged" {
  meta = {
    operation = "no-op"
  }

  attrs = {
    public    = true
    algorithm = "round_robin"
  }
}

resource "hcloud_load_balancer" "unchanged_and_wrong" {
  expect_failure = true

  meta = {
    operation = "no-op"
  }

  attrs = {
    public    = false
    algorithm = "least_connections"
  }
}

# A new one is not the matter of a policy about "no-op".
resource "hcloud_load_balancer" "new" {
  attrs = {
    public    = false
    algorithm = "least_connections"
  }
}
