# What the pages of this test show: `release` is "one" in the state, and "two" in the plan.

terraform {
  required_providers {
    null   = { source = "terraform.io/builtin/null" }
    random = { source = "terraform.io/builtin/random" }
  }
}

variable "release" {
  default = "one"
}

variable "password" {
  sensitive = true
  default   = "hunter2-hunter2"
}

locals {
  hostile = ["<script>hostile=1</script>", "\"><img src=x onerror=hostile=1>"]
}

resource "null_resource" "keyed" {
  for_each = toset(var.release == "one" ? concat(local.hostile, ["gone"]) : local.hostile)
  triggers = { release = var.release, html = "</td>${each.key}" }
}

resource "null_resource" "text" {
  triggers = {
    keyed  = length(null_resource.keyed)
    script = <<-EOT
      #!/bin/sh
      echo "needle-${var.release}"
      # </script><script>hostile=1</script>
      exit 0
    EOT
  }
}

resource "null_resource" "secret" {
  triggers = { password = "${var.password}-${var.release}" }
}

resource "random_password" "database" {
  length  = 20
  special = false
  keepers = { release = var.release }
}

resource "null_resource" "many" {
  count    = var.release == "one" ? 0 : 200
  triggers = { number = count.index }
}

module "net" {
  source  = "./net"
  release = var.release
  keyed   = length(null_resource.keyed)
}

output "password" {
  value     = "${var.password}-${var.release}"
  sensitive = true
}

check "version" {
  assert {
    condition     = var.release == "one"
    error_message = "Too new: ${var.release}"
  }
}
