terraform {
  required_providers {
    null = { source = "terraform.io/builtin/null" }
  }
}

variable "router" {}

resource "null_resource" "zone" {
  triggers = { router = var.router }
}
