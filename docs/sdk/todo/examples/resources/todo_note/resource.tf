resource "todo_note" "milk" {
  title = "Buy milk"
  tags  = ["food"]

  reminder {
    at = "2026-12-01T08:00:00Z"
  }
}
