locals {
  a = local.b
  b = "${local.c}!"
  c = upper(
    local.a,
  )
}

# Two that wait for each other, and one that only leads to them.
resource "terraform_data" "x" {
  input = terraform_data.y["k"].output
}

resource "terraform_data" "y" {
  for_each   = toset(["k"])
  depends_on = [terraform_data.x]
}

output "z" {
  value = terraform_data.x.output
}
