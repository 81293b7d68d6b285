action "todo_archive" "food" {
  config {
    tag = "food"
  }
}
