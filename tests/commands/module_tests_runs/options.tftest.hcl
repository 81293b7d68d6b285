run "first" {
  assert {
    condition     = output.size == 1 && output.rest == [1]
    error_message = "The first apply is wrong."
  }
}

run "plans_leave_the_state" {
  command = plan

  variables {
    size = 2
  }

  assert {
    condition     = terraform_data.node.input == 2
    error_message = "The plan has another input."
  }

  assert {
    condition     = terraform_data.node.id == run.first.id
    error_message = "The id of an object that exists is known."
  }
}

run "refreshes_only" {
  variables {
    size = 3
  }

  plan_options {
    mode = refresh-only
  }

  assert {
    condition     = terraform_data.node.input == 1
    error_message = "A refresh changes nothing."
  }

  assert {
    condition     = output.size == 1
    error_message = "The output has changed."
  }
}

run "targets_one_object" {
  variables {
    size = 4
  }

  plan_options {
    target = [terraform_data.node]
  }

  assert {
    condition     = terraform_data.node.output == 4
    error_message = "The target was not changed."
  }
}

run "the_rest_is_as_before" {
  command = plan

  variables {
    size = 4
  }

  plan_options {
    mode = refresh-only
  }

  assert {
    condition     = terraform_data.rest[0].output == 1
    error_message = "What is not a target was changed."
  }
}

run "replaces_on_request" {
  variables {
    size = 4
  }

  plan_options {
    refresh = false
    replace = [terraform_data.node]
  }

  assert {
    condition     = output.id != run.first.id
    error_message = "The object was not replaced."
  }
}

run "replaces_by_trigger" {
  variables {
    size = 11
  }

  assert {
    condition     = output.id != run.replaces_on_request.id
    error_message = "The object was not replaced."
  }
}

run "another_state" {
  state_key = "other"

  variables {
    count_of_rest = 2
  }

  assert {
    condition     = output.size == 1 && output.rest == [1, 1]
    error_message = "The state is not empty at the start."
  }
}

run "another_state_again" {
  state_key = "other"
  command   = plan

  assert {
    condition     = terraform_data.node.id == run.another_state.id
    error_message = "The state was not kept between the runs."
  }
}

run "first_state_again" {
  command = plan

  variables {
    size = 11
  }

  assert {
    condition     = terraform_data.node.id == run.replaces_by_trigger.id
    error_message = "The other state was used."
  }
}
