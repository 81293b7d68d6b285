# Ranges: some belong to other networks.

locals {
  taken = ["10.0.0.0/24", "10.0.1.0/24"]
}

resource_policy "openstack_networking_subnet_v2" "free" {
  enforce {
    condition     = !core::contains(local.taken, attrs.cidr)
    error_message = "The range ${attrs.cidr} is taken."
  }

  enforce {
    condition     = core::parseint(core::split("/", attrs.cidr)[1], 10) >= 24
    error_message = "A range has the size of a /24 or less."
  }
}
