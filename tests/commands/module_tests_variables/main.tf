variable "a" {
  default = "default"
}

variable "b" {
  default = "default"
}

variable "c" {
  default = "default"
}

variable "d" {
  default = "default"
}

variable "e" {
  default = "default"
}

variable "f" {
  default = "default"
}

variable "settings" {
  type = object({
    name = string
    size = optional(number, 3)
  })
  default = { name = "default" }
}

output "all" {
  value = join(" ", [var.a, var.b, var.c, var.d, var.e, var.f])
}

output "settings" {
  value = "${var.settings.name} ${var.settings.size}"
}
