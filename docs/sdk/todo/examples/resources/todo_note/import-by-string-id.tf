import {
  to = todo_note.milk
  id = "42"
}
