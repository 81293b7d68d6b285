variable "text" {
  type = strin
}

resource "terraform_data" "a" {
  input   = var.missing
  unknown = 1
}

resource "terraform_nothing" "b" {}

output "x" {
  value = terraform_data.c.id
}

locals {
  broken = length(1, 2, 3)
}
