override_resource {
  target = terraform_data.absent
}

run "fails" {
  command = plan

  assert {
    condition     = var.size == 2
    error_message = "It is ${var.size}, <not> 2."
  }
}

run "errors" {
  command = plan

  assert {
    condition     = output.nope == 2
    error_message = "never"
  }
}

run "skipped" {}
