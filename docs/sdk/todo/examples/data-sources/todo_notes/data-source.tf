data "todo_notes" "food" {
  tag = "food"
}
