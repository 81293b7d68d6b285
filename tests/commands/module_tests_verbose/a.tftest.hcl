run "plans" {
  command = plan
}

run "applies" {
  assert {
    condition     = output.size == 2
    error_message = "The size is 1."
  }
}

run "plans_a_change" {
  command = plan

  variables {
    size = 2
  }
}

run "plans_nothing" {
  command = plan
}

run "errors" {
  command = plan

  assert {
    condition     = output.nope
    error_message = "never"
  }
}

run "is_skipped" {}
