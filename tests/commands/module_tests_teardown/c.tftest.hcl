run "root" {
  variables {
    name = "three"
  }
}

run "stays" {
  module {
    source = "./stays"
  }
}
