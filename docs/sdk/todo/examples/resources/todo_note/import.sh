terraform import todo_note.milk 42
