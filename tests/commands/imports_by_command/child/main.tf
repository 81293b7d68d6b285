variable "id" {
  default = null
}

resource "terraform_data" "inner" {
  input = var.id
}

output "path" {
  value = path.module
}
