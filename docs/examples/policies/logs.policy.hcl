# Logs: objects that belong to others, found with core::getresources.

locals {
  all_buckets = core::getresources("google_storage_bucket", {})
  audit       = core::getresources("google_storage_bucket", { name = "audit" })
  in_eu = core::getresources("google_storage_bucket", {
    location = "EU"
    labels   = { kind = "logs" }
  })
}

# The bucket of the log must have an access control of its own.
resource_policy "google_logging_project_sink" "private" {
  enforcement_level = "mandatory_overridable"

  locals {
    access     = core::getresources("google_storage_bucket_acl", { bucket = attrs.destination })
    is_private = core::length(local.access) > 0 && local.access[0].predefined_acl == "private"
  }

  enforce {
    condition     = local.is_private
    error_message = "The bucket ${attrs.destination} of the log ${attrs.name} is not private."
  }
}

resource_policy "google_storage_bucket_acl" "audit_exists" {
  enforce {
    condition     = core::length(local.audit) == 1
    error_message = "There is no bucket with the name audit."
  }
}

resource_policy "google_storage_bucket" "count" {
  enforce {
    condition     = core::length(local.all_buckets) <= 3
    error_message = "There are ${core::length(local.all_buckets)} buckets, and not 3 or fewer."
  }

  enforce {
    condition     = attrs.location != "EU" || length(local.in_eu) <= 1
    error_message = "There is more than one bucket for logs in the EU: ${length(local.in_eu)}."
  }
}
