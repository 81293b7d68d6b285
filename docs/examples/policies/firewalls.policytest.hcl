policytest {
  targets = ["firewalls.policy.hcl"]
}

resource "hcloud_firewall" "web" {
  attrs = {
    rule = [
      { port = "443", source_ips = ["0.0.0.0/0"], description = "shop" },
      { port = "22", source_ips = ["10.0.0.0/8"], description = "office" },
    ]
  }
}

resource "hcloud_firewall" "shell" {
  expect_failure = true

  attrs = {
    rule = [
      { port = "22", source_ips = ["0.0.0.0/0"], description = "shell" },
    ]
  }
}

resource "hcloud_firewall" "unexplained" {
  expect_failure = true

  attrs = {
    rule = [
      { port = "80", source_ips = ["0.0.0.0/0"], description = "" },
    ]
  }
}

resource "hcloud_firewall" "empty" {
  attrs = {
    rule = []
  }
}

# The firewall "shell" is open.
resource "hcloud_server" "new" {
  expect_failure = true

  attrs = {
    name = "shop-2"
  }
}
