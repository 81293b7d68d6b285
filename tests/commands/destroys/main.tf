variable "fails" {
  type    = bool
  default = false
}

variable "index" {
  type    = number
  default = 0
}

resource "terraform_data" "a" {
  input = ["a"][var.index]
}

resource "terraform_data" "b" {
  input = terraform_data.a.output

  lifecycle {
    precondition {
      condition     = !var.fails
      error_message = "The precondition failed."
    }
    postcondition {
      condition     = !var.fails
      error_message = "The postcondition failed."
    }
  }
}

check "fine" {
  assert {
    condition     = !var.fails
    error_message = "The check failed."
  }
}

output "b" {
  value = terraform_data.b.output

  precondition {
    condition     = !var.fails
    error_message = "The output's precondition failed."
  }
}
