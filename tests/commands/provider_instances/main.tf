variable "regions" {
  type    = set(string)
  default = ["eu", "us"]
}

variable "used" {
  type    = set(string)
  default = ["eu", "us"]
}

provider "terraform" {
  alias    = "by"
  for_each = var.regions
}

resource "terraform_data" "a" {
  for_each = var.used
  provider = terraform.by[each.key]
  input    = each.key
}

module "child" {
  source   = "./child"
  for_each = var.used

  providers = {
    terraform = terraform.by[each.key]
  }
}
