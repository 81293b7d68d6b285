variable "password" {
  default   = "hidden"
  sensitive = true
}

variable "ok" {
  default = true
}

module "old" {
  source = "./m"
  size   = 1
}

resource "terraform_data" "a" {
  input = var.password
}

resource "terraform_data" "b" {
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "Refused."
    }
  }
}

resource "terraform_data" "c" {
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "Refused."
    }
  }
}

output "password" {
  value     = var.password
  sensitive = true
}
