run "plans_only" {
  command = plan
}
