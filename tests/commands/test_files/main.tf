variable "size" {
  default = 1
}
locals { twice = var.size * 2 }
resource "terraform_data" "a" { input = var.size }
module "below" { source = "./below" }
output "size" { value = terraform_data.a.output }
