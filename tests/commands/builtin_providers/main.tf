terraform {
  required_providers {
    null = {
      source  = "hashicorp/null"
      version = "~> 3.2"
    }
  }
}

data "null_data_source" "a" {
  inputs = {
    a = "b"
  }
}

resource "terraform_data" "a" {
  input = data.null_data_source.a.outputs
}

output "a" {
  value = terraform_data.a.output
}
