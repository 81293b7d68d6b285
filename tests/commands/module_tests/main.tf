variable "size" {
  type    = number
  default = 1
}

resource "terraform_data" "node" {
  input = var.size
}

output "size" {
  value = terraform_data.node.output
}
