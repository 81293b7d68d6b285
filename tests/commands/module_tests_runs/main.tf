variable "size" {
  type    = number
  default = 1
}

variable "count_of_rest" {
  type    = number
  default = 1
}

resource "terraform_data" "node" {
  input            = var.size
  triggers_replace = var.size > 10
}

resource "terraform_data" "rest" {
  count = var.count_of_rest
  input = terraform_data.node.output
}

output "size" {
  value = terraform_data.node.output
}

output "id" {
  value = terraform_data.node.id
}

output "rest" {
  value = terraform_data.rest[*].output
}
