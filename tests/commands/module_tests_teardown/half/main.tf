resource "terraform_data" "made" {
  provisioner "local-exec" {
    when    = destroy
    command = "echo half >> order.log"
  }
}

resource "terraform_data" "fails" {
  input = terraform_data.made.id

  provisioner "local-exec" {
    command = "exit 3"
  }
}
