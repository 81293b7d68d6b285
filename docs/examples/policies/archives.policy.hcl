# Archives: inputs of all kinds. Libraries of policies let an input decide about the level.

input "keep" {
  type        = bool
  description = "Whether archives must keep old versions"
  default     = true
}

input "days" {
  type        = number
  description = "How long an archive keeps objects, at least"
  default     = 30
  nullable    = false
}

input "region" {
  type        = string
  description = "The only region of archives"
  nullable    = true
}

input "prefix" {
  type        = string
  description = "What names of archives start with"
  default     = "arc-"
  sensitive   = true
}

input "archives-level" {
  type    = string
  default = "mandatory"
}

resource_policy "google_storage_bucket" "versions" {
  enforcement_level = "mandatory_overridable"

  enforce {
    condition     = !input.keep || attrs.versioning[0].enabled == true
    error_message = "An archive must keep old versions."
  }
}

resource_policy "google_storage_bucket" "retention" {
  enforcement_level = input.archives-level

  enforce {
    condition     = attrs.retention_policy[0].days * 24 >= input.days * 24
    error_message = "Objects must stay for at least ${input.days} days."
  }

  enforce {
    condition     = input.region == null || attrs.location == input.region
    error_message = "Archives are only in ${core::valuetostring(input.region)}."
  }
}

resource_policy "google_storage_bucket" "name" {
  enforce {
    condition     = core::startswith(attrs.name, input.prefix)
    error_message = "The name does not start with the prefix ${input.prefix}."
  }
}
