# A shop on built-in providers only, where objects that wait stand for those that a cloud takes its time to create.
# The pictures in the documentation are recorded with it: see docs/pictures/record.py.

terraform {
  required_providers {
    local = {
      source = "terraform.io/builtin/local"
    }
    random = {
      source = "terraform.io/builtin/random"
    }
    time = {
      source = "terraform.io/builtin/time"
    }
  }
}

variable "engine" {
  description = "The engine of the database. Another one is another database."
  type        = string
  default     = "postgres-17"
}

variable "zones" {
  description = "Servers run in these zones."
  type        = set(string)
  default     = ["a", "b", "c"]
}

variable "machine" {
  description = "The size of the servers."
  type        = string
  default     = "small"
}

resource "random_pet" "shop" {
  length = 2
}

resource "time_sleep" "network" {
  create_duration = "1400ms"
}

resource "time_sleep" "database" {
  create_duration = "3200ms"
  triggers = {
    engine  = var.engine
    network = time_sleep.network.id
  }
}

resource "time_sleep" "storage" {
  create_duration = "2400ms"
}

resource "terraform_data" "sizes" {
  input = { machine = var.machine }
}

module "zone" {
  source   = "./zone"
  for_each = var.zones

  name    = each.key
  network = time_sleep.network.id
}

resource "local_file" "settings" {
  filename = "${path.module}/settings.json"
  content = jsonencode({
    shop     = random_pet.shop.id
    database = time_sleep.database.triggers.engine
    servers  = [for zone in module.zone : zone.server]
    storage  = time_sleep.storage.id
  })
}

resource "terraform_data" "release" {
  triggers_replace = [local_file.settings.content_sha256]

  provisioner "local-exec" {
    command = "sleep 0.8; echo Open."
  }
}

output "shop" {
  value = random_pet.shop.id
}
