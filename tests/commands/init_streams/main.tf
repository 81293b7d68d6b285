module "a" {
  source = "./a"
}

resource "terraform_data" "b" {
  input = module.a.name
}
