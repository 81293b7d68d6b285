variable "value" {}

resource "terraform_data" "b" {
  count = 2
  input = var.value
}

output "all" {
  value = terraform_data.b[*].output
}
