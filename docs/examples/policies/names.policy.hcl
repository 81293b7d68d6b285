# Names: functions for texts, and messages about values of all types.

resource_policy "google_storage_bucket" "pattern" {
  locals {
    pattern = "^(trial|live)-[a-z]+-\\d{2}$"
  }

  enforce {
    condition     = core::regex_match(attrs.name, local.pattern)
    error_message = "${attrs.name} does not match ${local.pattern}."
  }
}

resource_policy "google_service_account" "plain_words" {
  locals {
    name       = core::lower(attrs.account_id)
    is_special = core::contains_substring(local.name, "admin") || core::contains_substring(local.name, "root")
  }

  enforce {
    condition     = !local.is_special
    error_message = "No account has a name like ${attrs.account_id}."
  }

  enforce {
    condition     = core::contains_substring(attrs.description, "Managed by")
    error_message = "The description says who manages the account."
  }
}

# Only messages.
resource_policy "google_service_account" "values" {
  enforce {
    condition    = true
    info_message = "Roles: ${core::valuetostring(attrs.roles)}, disabled: ${core::valuetostring(attrs.disabled)}, key: ${core::valuetostring(attrs.key)}"
  }
}
