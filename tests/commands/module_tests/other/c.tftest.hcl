run "elsewhere" {
  command = plan

  assert {
    condition     = var.size == 9
    error_message = "The size is ${var.size}."
  }
}
