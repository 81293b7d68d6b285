import {
  to = todo_note.milk
  identity = {
    id = "42"
  }
}
