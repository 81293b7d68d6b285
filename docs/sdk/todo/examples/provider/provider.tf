terraform {
  required_providers {
    todo = {
      source = "example/todo"
    }
  }
}

provider "todo" {
  address = "http://localhost:8080"
}
