variable "old" {
  default    = 1
  deprecated = "use new"
}

module "one" {
  source = "./child"
  old    = 2
}

module "many" {
  source   = "./child"
  for_each = toset(["a", "b"])
}

locals {
  direct  = module.one.id
  literal = module.many["a"].id
  dynamic = [for key in ["a", "b"] : module.many[key].id]
}

output "whole" {
  value = module.one
}
