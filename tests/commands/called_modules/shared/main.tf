terraform {
  required_version = ">= 1.0"
}

output "name" {
  value = "shared"
}
