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

check "health" {
  assert {
    condition     = var.size != 5
    error_message = "A size of 5 is unhealthy."
  }
}
