variable "size" {
  type    = number
  default = 1
}

variable "secret" {
  type      = string
  default   = "hidden-value"
  sensitive = true
}

resource "terraform_data" "node" {
  input = var.size
}

output "size" {
  value = terraform_data.node.output
}

output "secret" {
  value     = var.secret
  sensitive = true
}
