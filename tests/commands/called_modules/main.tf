module "a" {
  source = "./a"
  count  = 2
}

output "ids" {
  value = module.a[*].id
}
