variable "inner" {
  const = true
}

module "in" {
  source = "./${var.inner}"
}

output "name" {
  value = "one with ${module.in.folder}"
}
