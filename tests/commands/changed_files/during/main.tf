resource "terraform_data" "copy" {
  provisioner "local-exec" {
    command = "cp ../other.tftpl a.txt"
    quiet   = true
  }
}

output "again" {
  value      = file("a.txt")
  depends_on = [terraform_data.copy]
}
