list "todo_note" "food" {
  provider = todo

  config {
    tag = "food"
  }
}
