override_data {
  target = data.terraform_remote_state.network
  values = {
    outputs = { name = "n" }
  }
}

override_resource {
  target          = terraform_data.node
  override_during = plan
  values = {
    id     = "known"
    output = "known too"
  }
}

run "known_while_planning" {
  command = plan

  assert {
    condition     = terraform_data.node[1].id == "known" && terraform_data.node[0].output == "known too"
    error_message = "It is ${terraform_data.node[1].id}."
  }
}

run "not_known_while_planning" {
  command = plan

  override_resource {
    target = terraform_data.node
    values = {
      id = "unknown"
    }
  }

  assert {
    condition     = terraform_data.node[1].id == "unknown"
    error_message = "never"
  }
}
