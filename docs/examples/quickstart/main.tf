# Everything here is built into Terrane: no network, no account, no other program.

terraform {
  required_providers {
    random = {
      source = "terraform.io/builtin/random"
    }
    local = {
      source = "terraform.io/builtin/local"
    }
  }
}

variable "greeting" {
  description = "What to say."
  type        = string
  default     = "Hello"
}

resource "random_pet" "guest" {
  length = 2
}

resource "local_file" "note" {
  filename = "${path.module}/note.txt"
  content  = "${var.greeting}, ${random_pet.guest.id}!\n"
}

resource "terraform_data" "read" {
  triggers_replace = [local_file.note.id]

  provisioner "local-exec" {
    command = "cat ${local_file.note.filename}"
  }
}

output "guest" {
  value = random_pet.guest.id
}
