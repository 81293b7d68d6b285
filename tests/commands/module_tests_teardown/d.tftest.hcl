run "protected" {
  module {
    source = "./protected"
  }
}
