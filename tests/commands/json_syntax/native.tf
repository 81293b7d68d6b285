output "mixed" {
  value = local.escaped
}
