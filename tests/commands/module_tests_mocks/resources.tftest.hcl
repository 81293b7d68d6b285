override_data {
  target = data.terraform_remote_state.network
  values = {
    outputs = { name = "n" }
  }
}

override_resource {
  target = terraform_data.node
  values = {
    id     = "id-of-all"
    output = "made up"
  }
}

override_resource {
  target = terraform_data.node[1]
  values = {
    id     = "id-of-one"
    output = "made up for one"
  }
}

run "applied" {
  assert {
    condition     = output.node == ["made up", "made up for one"]
    error_message = "They are ${join(", ", output.node)}."
  }

  assert {
    condition     = output.ids == ["id-of-all", "id-of-one"]
    error_message = "They are ${join(", ", output.ids)}."
  }

  assert {
    condition     = terraform_data.node[0].input == "n"
    error_message = "The input is of the configuration."
  }

  assert {
    condition     = output.after == "made up"
    error_message = "It is ${output.after}."
  }
}
