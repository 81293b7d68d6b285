variable "on" {
  type    = bool
  default = true
}

variable "protect" {
  type    = bool
  default = false
}

resource "terraform_data" "switched" {
  input = "x"

  lifecycle {
    enabled = var.on
  }
}

resource "terraform_data" "kept" {
  input            = 1
  triggers_replace = var.on

  lifecycle {
    destroy = false
  }
}

resource "terraform_data" "protected" {
  triggers_replace = var.on

  lifecycle {
    prevent_destroy = var.protect
  }
}

module "child" {
  source = "./child"

  lifecycle {
    enabled = var.on
  }
}

output "switched" {
  value = try(terraform_data.switched.input, "none")
}

output "child" {
  value = try(module.child.name, "none")
}
