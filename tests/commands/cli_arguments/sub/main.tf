output "here" {
  value = "${path.module} ${path.root}"
}
