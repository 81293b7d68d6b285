resource "terraform_data" "below" {}
