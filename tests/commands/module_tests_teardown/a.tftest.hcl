run "one" {}

run "two" {
  variables {
    name = "two"
  }

  assert {
    condition     = output.name == "one"
    error_message = "What failed is destroyed too."
  }
}
