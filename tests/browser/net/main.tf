terraform {
  required_providers {
    null = { source = "terraform.io/builtin/null" }
  }
}

variable "release" {}
variable "keyed" {}

resource "null_resource" "router" {
  triggers = { release = var.release, keyed = var.keyed }
}

module "zone" {
  source = "./zone"
  router = null_resource.router.id
}
