variable "round" {
  default = 1
}

locals {
  text = file("a.txt")
}

resource "terraform_data" "a" {
  input = "${var.round} ${local.text}"
}

output "all" {
  value = {
    there   = fileexists("c.txt")
    encoded = filebase64("a.txt")
    length  = length(timestamp())
  }
}

output "sum" {
  value     = filemd5(sensitive("a.txt"))
  sensitive = true
}

output "names" {
  value = fileset("files", "*")
}

output "page" {
  value = templatefile("page.tftpl", { length = length(timestamp()), name = "x" })
}

output "tried" {
  value = try(file("absent.txt"), "none")
}
