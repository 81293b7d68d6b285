variable "size" {
  type    = number
  default = 1
}

resource "terraform_data" "network" {
  input = {
    size  = var.size
    names = ["a", "b"]
    notes = <<-EOT
      first
      second
    EOT
  }
}

resource "terraform_data" "host" {
  count            = 2
  input            = "host ${count.index} of ${terraform_data.network.output.size}"
  triggers_replace = var.size > 1 ? [var.size] : null
}

output "hosts" {
  value = terraform_data.host[*].output
}

output "secret" {
  value     = "hidden ${var.size}"
  sensitive = true
}
