variable "name" {
  type    = string
  default = "nameless"
}

resource "terraform_data" "service" {
  input = var.name

  provisioner "local-exec" {
    when    = destroy
    command = "echo service ${self.input} >> order.log"
  }
}

output "name" {
  value = terraform_data.service.output
}
