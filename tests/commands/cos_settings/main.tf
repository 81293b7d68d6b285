terraform {
  backend "cos" {
    region = "r"
  }
}
