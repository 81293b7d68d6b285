run "plans" {
  command = plan

  assert {
    condition     = terraform_data.node.input == 1
    error_message = "The plan has another size."
  }
}
