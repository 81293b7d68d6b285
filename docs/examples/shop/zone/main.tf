terraform {
  required_providers {
    time = {
      source = "terraform.io/builtin/time"
    }
  }
}

variable "name" {
  type = string
}

variable "network" {
  type = string
}

locals {
  # No two zones take the same time.
  place = index(["a", "b", "c", "d"], var.name)
}

resource "time_sleep" "subnet" {
  create_duration = "${1600 + 200 * local.place}ms"
  triggers        = { network = var.network }
}

resource "time_sleep" "server" {
  create_duration = "${2200 + 350 * local.place}ms"
  triggers        = { subnet = time_sleep.subnet.id }
}

output "server" {
  value = time_sleep.server.id
}
