provider "terraform" {}

provider "terraform" {
  alias = "second"
}

run "real_ones" {
  assert {
    condition     = length(output.ids) == 73
    error_message = "They are ${output.ids}."
  }
}
