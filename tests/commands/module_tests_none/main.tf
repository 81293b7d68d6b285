terraform {
  backend "local" {
    path = "own.tfstate"
  }
}

resource "terraform_data" "a" {
  input = "of the project"
}
