variable "expected" {
  type = string
}

output "is_equal" {
  value = var.expected == "a-net"
}
