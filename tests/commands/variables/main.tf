variable "a" {
  default = "default"
}

variable "b" {
  type    = list(number)
  default = []
}

variable "required" {
  type = string
}

variable "checked" {
  type    = number
  default = 1

  validation {
    condition     = var.checked > 0
    error_message = "Must be positive."
  }
}

variable "hidden" {
  type      = string
  default   = "x"
  sensitive = true
}

output "all" {
  value = "${var.a} ${jsonencode(var.b)} ${var.required} ${var.checked}"
}

output "hidden" {
  value     = var.hidden
  sensitive = true
}
