run "shows" {
  command = plan

  assert {
    condition     = output.all == ""
    error_message = output.all
  }
}
