module "within" {
  source = "../shared"
}

resource "terraform_data" "a" {
  input = module.within.name
}

output "id" {
  value = terraform_data.a.id
}
