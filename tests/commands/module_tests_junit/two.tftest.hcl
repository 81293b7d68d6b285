run "several" {
  command = plan

  assert {
    condition     = var.size == 2
    error_message = "First & \"second\"."
  }

  assert {
    condition     = var.size == 3
    error_message = "Second ]]> third."
  }

  assert {
    condition     = var.size == 1
    error_message = "never"
  }
}

run "expected" {
  command         = plan
  expect_failures = [check.health]
}
