# Firewalls: nested blocks are lists of objects.

locals {
  anywhere  = "0.0.0.0/0"
  firewalls = core::getresources("hcloud_firewall", {})

  # All firewalls of the plan and of the state.
  any_open_shell = core::anytrue([
    for firewall in local.firewalls :
    core::contains([for rule in firewall.rule : rule.source_ips if rule.port == "22"], [local.anywhere])
  ])
}

resource_policy "hcloud_firewall" "open_ports" {
  locals {
    open = [for rule in attrs.rule : rule.port if core::contains(rule.source_ips, local.anywhere)]
  }

  enforce {
    condition     = core::length(core::setsubtract(local.open, ["80", "443"])) == 0
    error_message = "Ports that are open for all: ${join(", ", local.open)}. Only 80 and 443 may be."
  }

  enforce {
    condition     = core::alltrue([for text in attrs.rule[*].description : text != ""])
    error_message = "Each rule needs a description."
  }
}

resource_policy "hcloud_server" "shell" {
  enforce {
    condition     = !local.any_open_shell
    error_message = "There are no new servers while a firewall has port 22 open for all."
  }
}
