variable "point" {
  type    = object({ x = number, label = optional(string), tags = optional(map(string)) })
  default = { x = 1 }
}

resource "terraform_data" "a" {
  count = 2
  input = { none = null, list = [1, null], "a key" = true }
}

module "m" {
  source = "./m"
}

output "point" {
  value = var.point
}

output "names" {
  value = tomap({ plain = "p", "a.b" = "q" })
}

output "maybe" {
  value = tolist([null, "b"])
}

output "mixed" {
  value = [null, { none = null, inner = { none = null } }]
}

output "secret" {
  value     = "s"
  sensitive = true
}

output "empty" {
  value = ""
}

output "document" {
  value = jsonencode({ none = null })
}
