# Servers: every setting of a resource policy.

policy {
  terraform_config {
    required_version = ">= 1.16.0"
  }
  required_providers {
    hcloud = {
      source  = "hetznercloud/hcloud"
      version = ">= 1.40.0, < 2.0.0"
    }
  }
}

resource_policy "hcloud_server" "trial" {
  operations        = ["create", "update"]
  enforcement_level = "mandatory"
  filter            = attrs.labels.stage == "trial"

  locals {
    smallest = "cx22"
  }

  enforce {
    condition     = attrs.server_type == local.smallest
    error_message = "A server for trials is a ${local.smallest}, and not a ${attrs.server_type}."
    info_message  = "${attrs.name} is a ${attrs.server_type}."
  }

  enforce {
    condition     = attrs.backups != true
    error_message = "Servers for trials have no backups."
  }
}
