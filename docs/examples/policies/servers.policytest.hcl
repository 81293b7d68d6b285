policytest {
  terraform_config {
    required_version = ">= 1.16.0"
  }
  targets = ["servers.policy.hcl"]
}

resource "hcloud_server" "small" {
  attrs = {
    name        = "trial-1"
    server_type = "cx22"
    backups     = false
    labels      = { stage = "trial" }
  }
}

resource "hcloud_server" "large" {
  expect_failure = true

  attrs = {
    name        = "trial-2"
    server_type = "cx52"
    backups     = false
    labels      = { stage = "trial" }
  }
}

resource "hcloud_server" "saved" {
  expect_failure = true

  attrs = {
    name        = "trial-3"
    server_type = "cx22"
    backups     = true
    labels      = { stage = "trial" }
  }
}

# The filter leaves it out.
resource "hcloud_server" "live" {
  attrs = {
    name        = "shop-1"
    server_type = "cx52"
    backups     = true
    labels      = { stage = "live" }
  }
}

# The operations leave it out.
resource "hcloud_server" "unchanged" {
  meta = {
    operation = "no-op"
  }

  attrs = {
    name        = "trial-4"
    server_type = "cx52"
    backups     = true
    labels      = { stage = "trial" }
  }
}
