variable "given" {
  default = "g"
}

resource "terraform_data" "a" {
  input = terraform_data.missing.id
  lifecycle {
    postcondition {
      condition     = self.id == "expected"
      error_message = "Unexpected id."
    }
  }
}

resource "terraform_data" "counted" {
  count = 3
  lifecycle {
    create_before_destroy = true
  }
}

resource "terraform_data" "keyed" {
  for_each = toset(["x", "y"])
}

resource "terraform_data" "by_block" {}

import {
  to = terraform_data.by_block
  id = "block"
}

module "called" {
  source = "./child"
  count  = 1
  id     = terraform_data.a.id
}

check "c" {
  assert {
    condition     = terraform_data.a.id == "expected"
    error_message = "Unexpected."
  }
}

output "given" {
  value = "${var.given} ${path.root} ${path.module} ${module.called[0].path}"
}

output "when" {
  value = plantimestamp()
}

output "a" {
  value = terraform_data.a.id
}

output "counted" {
  value = terraform_data.counted[*].id
}

output "keyed" {
  value = { for key, one in terraform_data.keyed : key => one.id }
}

output "all" {
  value = concat([for one in terraform_data.keyed : one.id], terraform_data.counted[*].id)
}
