
resource "terraform_data" "a" {
  input = var.missing
}

resource "terraform_nothing" "b" {}

output "x" {
  value = terraform_data.c.id
}

locals {
  broken = length(1, 2, 3)
}
