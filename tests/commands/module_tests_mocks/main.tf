data "terraform_remote_state" "network" {
  backend = "local"
  config = {
    path = "absent.tfstate"
  }
}

resource "terraform_data" "node" {
  count = 2
  input = data.terraform_remote_state.network.outputs.name
}

resource "terraform_data" "after" {
  input = terraform_data.node[0].output
}

module "below" {
  source = "./below"
  name   = "given"
}

output "node" {
  value = terraform_data.node[*].output
}

output "ids" {
  value = terraform_data.node[*].id
}

output "after" {
  value = terraform_data.after.output
}

output "below" {
  value = module.below.name
}

output "network" {
  value = data.terraform_remote_state.network.outputs.name
}
