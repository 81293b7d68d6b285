run "applies" {
  variables {
    nope = 1
  }

  assert {
    condition     = output.size == 1
    error_message = "never"
  }
}

run "plans" {
  command = plan
}
