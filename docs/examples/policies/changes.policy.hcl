# Changes: what an object was before, and which operation is planned.

resource_policy "hcloud_volume" "never_smaller" {
  operations = ["update"]

  enforce {
    condition     = attrs.size >= prior_attrs.size
    error_message = "The volume would shrink from ${prior_attrs.size} GB to ${attrs.size} GB."
  }
}

resource_policy "hcloud_volume" "stays" {
  operations = ["delete"]
  filter     = core::try(prior_attrs.labels.stage, "live") == "live"

  enforce {
    condition     = meta.operation != "delete"
    error_message = "Volumes of the live stage are not deleted."
  }
}

# A policy about new objects does not see others.
resource_policy "hcloud_volume" "new_format" {
  operations = ["create"]

  enforce {
    condition     = attrs.format == "xfs"
    error_message = "New volumes have the format xfs, and not ${attrs.format}."
  }
}

# What exists and stays as it is.
resource_policy "hcloud_load_balancer" "one_public" {
  operations = ["no-op"]

  locals {
    public = core::getresources("hcloud_load_balancer", { public = true })
  }

  enforce {
    condition     = core::length(local.public) >= 1 && attrs.algorithm == "round_robin"
    error_message = "One load balancer must be public, and all of them take turns."
  }
}
