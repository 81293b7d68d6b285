variable "secret" {
  type      = string
  default   = "marker-of-the-default"
  sensitive = true
}

variable "token" {
  type      = string
  default   = null
  ephemeral = true
}

resource "terraform_data" "node" {
  input = length(var.secret)

  lifecycle {
    precondition {
      condition     = var.secret != "marker-of-the-precondition"
      error_message = "The secret ${nonsensitive(length(var.secret))} is refused."
    }
  }
}

output "secret" {
  value     = var.secret
  sensitive = true
}

output "length" {
  value = nonsensitive(length(var.secret))
}
