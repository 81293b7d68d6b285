mock_data "x" {}
override_resource {
  target = terraform_data.x
}
