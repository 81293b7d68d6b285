mock_provider "terraform" {
  mock_resource "terraform_data" {
    defaults = {
      id = "default"
    }
  }
}

mock_provider "terraform" {
  alias = "second"

  mock_resource "terraform_data" {
    defaults = {
      id = "second"
    }
  }
}

mock_provider "terraform" {
  alias = "third"

  mock_resource "terraform_data" {
    defaults = {
      id = "third"
    }
  }
}

run "by_name" {
  state_key = "a"

  assert {
    condition     = output.ids == "default second"
    error_message = "They are ${output.ids}."
  }
}

run "as_the_run_says" {
  state_key = "b"

  providers = {
    terraform        = terraform.third
    terraform.second = terraform
  }

  assert {
    condition     = output.ids == "third default"
    error_message = "They are ${output.ids}."
  }
}
