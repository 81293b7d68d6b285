variable "input" {
  default = "one"
}

resource "terraform_data" "a" {
  input = var.input
}

output "id" {
  value = terraform_data.a.id
}
