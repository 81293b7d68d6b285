ephemeral "todo_session" "run" {}
