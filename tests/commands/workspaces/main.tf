resource "terraform_data" "a" {
  count = terraform.workspace == "default" ? 0 : 2
  input = terraform.workspace
}

output "w" {
  value = terraform.workspace
}
