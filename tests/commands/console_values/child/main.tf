variable "text" {}

resource "terraform_data" "inner" {
  input = var.text
}

output "stored" {
  value = terraform_data.inner.output
}

output "given" {
  value = var.text
}
