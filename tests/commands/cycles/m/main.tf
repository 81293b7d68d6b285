variable "in" {}

resource "terraform_data" "inner" {
  input = var.in
}

output "out" {
  value = terraform_data.inner.output
}
