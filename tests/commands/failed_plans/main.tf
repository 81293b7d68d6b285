variable "n" {
  default = 1
}

resource "terraform_data" "a" {
  input = var.n
}

resource "terraform_data" "b" {
  input = terraform_data.a.output

  lifecycle {
    precondition {
      condition     = var.n < 2
      error_message = "Too many."
    }
  }
}
