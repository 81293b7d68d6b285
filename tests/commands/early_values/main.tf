variable "which" {
  const = true
}

variable "team" {
  default = "core"
}

locals {
  root   = "./modules"
  source = "${local.root}/${var.which}"
}

terraform {
  backend "local" {
    path = "${var.team}-${terraform.workspace}.tfstate"
  }
}

module "m" {
  source  = local.source
  version = null
  inner   = "inner"
}

output "m" {
  value = module.m.name
}
