mock_provider "terraform" {
  source          = "./mocks"
  override_during = plan

  mock_resource "terraform_data" {
    defaults = {
      id = "inline"
    }
  }
}

run "known_while_planning" {
  command = plan

  assert {
    condition     = output.network == "from a file" && output.ids == ["inline", "inline"]
    error_message = "It is ${output.network} and ${join(", ", output.ids)}."
  }

  assert {
    condition     = terraform_data.after.id == "override from a file"
    error_message = "It is ${terraform_data.after.id}."
  }
}
