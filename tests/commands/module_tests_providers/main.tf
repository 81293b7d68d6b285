terraform {
  required_providers {
    terraform = {
      source                = "terraform.io/builtin/terraform"
      configuration_aliases = [terraform.second]
    }
  }
}

resource "terraform_data" "first" {}

resource "terraform_data" "second" {
  provider = terraform.second
}

output "ids" {
  value = "${terraform_data.first.id} ${terraform_data.second.id}"
}
