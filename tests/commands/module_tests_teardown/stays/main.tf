resource "terraform_data" "below" {
  input = "below"
}

resource "terraform_data" "stays" {
  count = 2
  input = terraform_data.below.output

  provisioner "local-exec" {
    when    = destroy
    command = "exit 1"
  }
}
