variable "name" {
  type    = string
  default = "one"
}

resource "terraform_data" "first" {
  input = var.name

  provisioner "local-exec" {
    when    = destroy
    command = "echo first ${self.input} >> order.log"
  }
}

resource "terraform_data" "second" {
  input = terraform_data.first.output

  provisioner "local-exec" {
    when    = destroy
    command = "echo second ${self.input} >> order.log"
  }
}

output "name" {
  value = terraform_data.second.output
}
