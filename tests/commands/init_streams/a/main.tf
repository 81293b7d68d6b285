output "name" {
  value = "a"
}
