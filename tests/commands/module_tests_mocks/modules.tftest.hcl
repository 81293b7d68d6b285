override_data {
  target = data.terraform_remote_state.network
  values = {
    outputs = { name = "n" }
  }
}

override_module {
  target = module.below
  outputs = {
    name = "of the override"
  }
}

run "applied" {
  assert {
    condition     = output.below == "of the override"
    error_message = "It is ${output.below}."
  }

  assert {
    condition     = module.below.id == null
    error_message = "Outputs that are not given are null."
  }
}

run "planned" {
  command = plan

  assert {
    condition     = output.below == "of the override"
    error_message = "It is ${output.below}."
  }
}

run "object_in_the_module" {
  command = plan

  override_resource {
    target          = module.below.terraform_data.inner
    override_during = plan
    values = {
      id = "inner"
    }
  }

  override_module {
    target = module.below
  }

  assert {
    condition     = module.below.name == null
    error_message = "An override without outputs has none."
  }
}
