variable "untyped" {
  default = 1
}

resource "terraform_data" "a" {
  count = 1
}
