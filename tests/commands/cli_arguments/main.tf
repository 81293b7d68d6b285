variable "who" {
  default = "nobody"
}

output "greeting" {
  value = "hello ${var.who} in ${terraform.workspace}"
}
