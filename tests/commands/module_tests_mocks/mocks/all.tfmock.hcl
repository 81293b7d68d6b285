mock_data "terraform_remote_state" {
  defaults = {
    outputs = { name = "from a file" }
  }
}

mock_resource "terraform_data" {
  defaults = {
    id = "never"
  }
}

override_resource {
  target = terraform_data.after
  values = {
    id = "override from a file"
  }
}
