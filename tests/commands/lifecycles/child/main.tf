resource "terraform_data" "inside" {}

output "name" {
  value = "child"
  type  = string
}
