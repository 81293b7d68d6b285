variables {
  e = "file"
  f = "file"
}

run "shows" {
  command = plan

  variables {
    f = "run"
  }

  assert {
    condition     = output.all == ""
    error_message = output.all
  }
}

run "refers" {
  command = plan

  variables {
    f        = "<${var.e}>"
    settings = { name = upper(var.b) }
  }

  assert {
    condition     = output.all == "" || output.settings == ""
    error_message = "${output.all}, ${output.settings}"
  }
}
