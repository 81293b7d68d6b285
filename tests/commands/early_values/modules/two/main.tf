variable "inner" {}

output "name" {
  value = "two"
}
