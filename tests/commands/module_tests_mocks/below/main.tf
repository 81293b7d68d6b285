variable "name" {
  type = string
}

resource "terraform_data" "inner" {
  input = var.name
}

output "name" {
  value = terraform_data.inner.output
}

output "id" {
  value = terraform_data.inner.id
}
