# All policies of a folder.
policytest {
  targets = ["./"]
}

resource "openstack_networking_port_v2" "guarded" {
  attrs = {
    id   = "port-1"
    name = "front"
  }
}

# The policies are not about it, so it passes.
resource "openstack_networking_port_secgroup_associate_v2" "front" {
  attrs = {
    port_id            = openstack_networking_port_v2.guarded.id
    security_group_ids = ["web"]
  }
}

resource "openstack_networking_port_v2" "open" {
  expect_failure = true

  attrs = {
    id   = "port-2"
    name = "back"
  }
}

resource "openstack_networking_subnet_v2" "free" {
  attrs = {
    cidr = "10.0.2.0/24"
  }
}

resource "openstack_networking_subnet_v2" "taken" {
  expect_failure = true

  attrs = {
    cidr = "10.0.1.0/24"
  }
}

resource "openstack_networking_subnet_v2" "too_large" {
  expect_failure = true

  attrs = {
    cidr = "10.8.0.0/16"
  }
}
