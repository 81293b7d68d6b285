variable "untyped" {
  default = "a"
}

variable "unused" {
  type    = string
  default = "b"

  validation {
    condition     = var.unused != var.only_validates
    error_message = "Both are the same."
  }
}

variable "only_validates" {
  type    = string
  default = "c"
}

variable "enabled" {
  type    = bool
  default = true
}

locals {
  unused = var.untyped
  used   = var.untyped
}

resource "terraform_data" "one" {
  count = var.enabled ? 1 : 0
  input = local.used
}

resource "terraform_data" "other" {
  count = 1
}

resource "terraform_data" "two" {
  count = 2

  provisioner "local-exec" {
    command = "true"
  }
}

# Only the root module is checked.
module "m" {
  source = "./m"
}
