terraform {
  backend "oss" {}
}
