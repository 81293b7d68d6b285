# Places: what meta says about an object.

resource_policy "*" "places" {
  filter = meta.provider_type == "google"

  enforce {
    condition     = meta.module_path != "."
    error_message = "${meta.type} is in the root module. Objects of Google Cloud belong to a module."
  }

  enforce {
    condition     = meta.tfe_stack.stack_name == "" || meta.tfe_stack.deployment_group == "europe"
    error_message = "Stacks have one group of deployments, europe, and not ${meta.tfe_stack.deployment_group}."
  }
}

resource_policy "google_pubsub_*" "deletions" {
  operations = ["delete"]

  enforce {
    condition     = core::try(meta.tfe_workspace.tags.env, "trial") == "trial"
    error_message = "Nothing is deleted in a workspace for the stage ${meta.tfe_workspace.tags.env}."
  }
}
