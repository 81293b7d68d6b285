resource "terraform_data" "web" {}
