# Stages: local values of the file and of a policy.

locals {
  stages = {
    trial = {
      types = ["cx22", "cx32"]
      most  = 2
    }
    live = {
      types = ["cx32", "cx42", "cx52"]
      most  = 20
    }
  }
  live_places  = ["fsn1", "nbg1"]
  trial_places = ["hel1"]
}

resource_policy "hcloud_server" "type_and_count" {
  locals {
    stage = attrs.labels.stage
    rules = local.stages[local.stage]
    count = length(core::getresources("hcloud_server", { labels = { stage = local.stage } }))
  }

  enforce {
    condition     = core::contains(local.rules.types, attrs.server_type)
    error_message = "In the stage ${local.stage}, a server is one of ${core::join(", ", local.rules.types)}."
  }

  enforce {
    condition     = local.count <= local.rules.most
    error_message = "The stage ${local.stage} has ${local.count} servers, and not ${local.rules.most} or fewer."
  }
}

resource_policy "hcloud_server" "place" {
  locals {
    is_live = attrs.labels.stage == "live"
    places  = local.is_live ? local.live_places : local.trial_places
  }

  enforce {
    condition     = core::contains(local.places, attrs.location)
    error_message = "This server is in one of ${core::join(", ", local.places)}."
  }
}
