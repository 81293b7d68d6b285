resource "terraform_data" "here" {}

module "child" {
  source = "./child"
}
