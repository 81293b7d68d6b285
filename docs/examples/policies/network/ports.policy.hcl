# Ports: each has a security group of its own.

resource_policy "openstack_networking_port_v2" "guarded" {
  locals {
    groups = core::getresources("openstack_networking_port_secgroup_associate_v2", { port_id = attrs.id })
  }

  enforce {
    condition     = core::length(local.groups) > 0
    error_message = "The port ${attrs.name} has no security group."
  }
}
