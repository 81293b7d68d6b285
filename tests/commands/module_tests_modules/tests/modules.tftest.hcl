variables {
  base = "a"
  name = "of the file"
}

run "setup" {
  module {
    source = "./setup"
  }
}

run "service" {
  variables {
    name = run.setup.name
  }

  assert {
    condition     = output.name == "a-net" && run.setup.name == "a-net"
    error_message = "The output of the setup was not passed on."
  }
}

run "setup_again" {
  module {
    source = "./setup"
  }

  assert {
    condition     = output.id == run.setup.id
    error_message = "The runs of a module do not share their state."
  }
}

run "setup_elsewhere" {
  state_key = "elsewhere"

  module {
    source = "./setup"
  }

  variables {
    base = "b"
  }

  assert {
    condition     = output.id != run.setup.id
    error_message = "A state key of its own has the state of the module."
  }
}

run "reader" {
  module {
    source = "./reader"
  }

  variables {
    expected = run.service.name
  }

  assert {
    condition     = output.is_equal
    error_message = "The reader got ${run.service.name}."
  }
}
