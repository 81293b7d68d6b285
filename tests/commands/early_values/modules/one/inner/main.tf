output "folder" {
  value = path.module
}
