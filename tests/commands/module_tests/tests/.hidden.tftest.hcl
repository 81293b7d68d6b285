run "never" {
  command = nothing
}
