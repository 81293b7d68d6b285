override_data {
  target = data.terraform_remote_state.network
  values = {
    outputs = { name = "of the file" }
  }
}

run "data_of_the_file" {
  assert {
    condition     = output.network == "of the file" && output.node == ["of the file", "of the file"]
    error_message = "It is ${output.network}."
  }
}

run "data_of_the_run" {
  override_data {
    target = data.terraform_remote_state.network
    values = {
      outputs = { name = "of the run" }
    }
  }

  assert {
    condition     = output.after == "of the run"
    error_message = "It is ${output.after}."
  }
}

run "data_is_known_in_a_plan" {
  command = plan

  assert {
    condition     = output.network == "of the file" && terraform_data.node[0].input == "of the file"
    error_message = "It is ${output.network}."
  }
}
