run "applies" {
  assert {
    condition     = output.size == 1
    error_message = "The default does not count."
  }
}

run "keeps_the_state" {
  variables {
    size = 2
  }

  assert {
    condition     = terraform_data.node.output == 2
    error_message = "The object was not changed."
  }
}
