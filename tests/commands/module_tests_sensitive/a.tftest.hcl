variables {
  token = "marker-of-the-token"
}

run "applies" {
  assert {
    condition     = output.secret == "x" || var.secret == "y"
    error_message = "The secret is another one."
  }

  assert {
    condition     = output.secret == "x"
    error_message = "It is ${output.secret}."
  }

  assert {
    condition     = output.length == 21
    error_message = "It is ${output.length} long."
  }
}

run "passes_it_on" {
  command = plan

  variables {
    secret = run.applies.secret
  }

  assert {
    condition     = var.secret == "x"
    error_message = "The secret is another one."
  }
}

run "errors" {
  command = plan

  assert {
    condition     = output.secret
    error_message = "never"
  }
}

run "is_skipped" {
  command = plan
}
