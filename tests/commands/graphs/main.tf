variable "name" {
  default = "a"
  validation {
    condition     = var.name != ""
    error_message = "It needs a name."
  }
}

variable "unused" {
  default = 1
}

locals {
  name = "the ${var.name}"
}

resource "terraform_data" "a" {
  input = local.name
}

resource "terraform_data" "c" {
  for_each   = toset(["x", "y"])
  input      = module.m["k"].all
  depends_on = [terraform_data.z]
}

resource "terraform_data" "z" {}

module "m" {
  source   = "./m"
  for_each = toset(["k"])
  value    = terraform_data.a.id
}

output "all" {
  value = terraform_data.c
}
