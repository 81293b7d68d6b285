run "one" {
  command=plan
}
