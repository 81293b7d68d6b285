mock_provider "terraform" {
  mock_resource "terraform_data" {
    defaults = {
      id     = "default-id"
      output = "default output"
    }
  }

  mock_data "terraform_remote_state" {
    defaults = {
      outputs = { name = "from the mock" }
    }
  }

  override_resource {
    target = terraform_data.after
    values = {
      output = "override of the mock"
    }
  }
}

run "defaults" {
  assert {
    condition     = output.ids == ["default-id", "default-id"] && output.node == ["default output", "default output"]
    error_message = "They are ${join(", ", output.ids)} and ${join(", ", output.node)}."
  }

  assert {
    condition     = output.network == "from the mock"
    error_message = "It is ${output.network}."
  }

  assert {
    condition     = output.after == "override of the mock" && length(terraform_data.after.id) == 8
    error_message = "Values that an override does not give are made up."
  }
}

run "override_of_the_run" {
  override_resource {
    target = terraform_data.after
    values = {
      output = "override of the run"
    }
  }

  state_key = "other"

  assert {
    condition     = output.after == "override of the run"
    error_message = "It is ${output.after}."
  }
}
