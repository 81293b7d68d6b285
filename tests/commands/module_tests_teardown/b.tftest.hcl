run "half" {
  module {
    source = "./half"
  }
}

run "not_executed" {}
