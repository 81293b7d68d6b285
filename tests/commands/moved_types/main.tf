terraform {
  required_providers {
    null = {
      source = "terraform.io/builtin/null"
    }
  }
}

resource "null_resource" "one" {
  triggers = {
    name = "x"
  }
}

resource "null_resource" "many" {
  count = 2
}
