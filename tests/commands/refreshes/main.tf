resource "terraform_data" "a" {
  input = 1
}

module "m" {
  source = "./child"
  count  = 2
}

output "gone" {
  value = 1
}

output "input" {
  value = terraform_data.a.input
}

output "output" {
  value = terraform_data.a.output
}

check "c" {
  assert {
    condition     = terraform_data.a.input == 1
    error_message = "Not one."
  }
}
