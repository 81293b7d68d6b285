# Labels: one policy for all types of a provider, and an input with an object.

input "rules" {
  type = object({
    needed = list(string)
    stages = list(string)
  })
  description = "The labels that every object has, and the values of the label stage"
  default = {
    needed = ["team", "stage"]
    stages = ["trial", "live"]
  }
}

resource_policy "google_*" "any_label" {
  enforcement_level = "mandatory_overridable"

  enforce {
    condition     = attrs.labels != null && core::length(core::keys(attrs.labels)) > 0
    error_message = "An object of type ${meta.type} has no label."
  }
}

resource_policy "google_compute_instance" "needed_labels" {
  filter = attrs.labels != null

  locals {
    has_all = core::alltrue([
      for label in input.rules.needed :
      core::contains(core::keys(attrs.labels), label)
    ])
    has_contact = core::anytrue([
      for label in ["mail", "chat"] : contains(keys(attrs.labels), label)
    ])
  }

  enforce {
    condition     = local.has_all
    error_message = "These labels are needed: ${core::join(", ", input.rules.needed)}."
  }

  enforce {
    condition     = local.has_contact
    error_message = "One of the labels mail and chat is needed."
  }

  enforce {
    condition     = core::contains(input.rules.stages, core::try(attrs.labels.stage, ""))
    error_message = "The stage is one of ${join(", ", input.rules.stages)}."
  }
}
