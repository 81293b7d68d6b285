output "workspace" {
  value = tofu.workspace
}

variable "name" {
  default = "x"
}

resource "terraform_data" "a" {
  input = var.name
}
