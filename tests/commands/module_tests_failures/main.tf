variable "size" {
  type    = number
  default = 1

  validation {
    condition     = var.size < 10
    error_message = "The size is at most 9."
  }
}

variable "secret" {
  type      = string
  default   = "hidden-value"
  sensitive = true
}

resource "terraform_data" "node" {
  input = var.size

  lifecycle {
    precondition {
      condition     = var.size != 2
      error_message = "A node is not of size 2."
    }

    postcondition {
      condition     = self.output != 3
      error_message = "A node has not become of size 3."
    }
  }
}

output "size" {
  value = terraform_data.node.output

  precondition {
    condition     = var.size != 4
    error_message = "The output is not 4."
  }
}

output "tags" {
  value = { name = "n", list = [1, 2], secret = null }
}

check "health" {
  assert {
    condition     = var.size != 5
    error_message = "A size of 5 is unhealthy."
  }
}
