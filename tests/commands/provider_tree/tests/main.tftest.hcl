run "itself" {}

run "another" {
  module {
    source = "./helper"
  }
}
