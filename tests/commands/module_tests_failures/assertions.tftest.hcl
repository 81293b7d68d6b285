run "several_fail" {
  command = plan

  assert {
    condition     = var.size == 2
    error_message = "The size is ${var.size}."
  }

  assert {
    condition     = output.tags == { name = "n", list = [1, 3], secret = null }
    error_message = "The tags are others."
  }

  assert {
    condition     = var.size == 1
    error_message = "never"
  }

  assert {
    condition     = var.secret == "other"
    error_message = "The secret is another one."
  }
}

run "is_executed_after_a_failure" {
  command = plan
}

run "is_unknown" {
  command = plan

  assert {
    condition     = output.size == 1
    error_message = "never"
  }
}

run "is_skipped_after_an_error" {
  command = plan
}
