module "again" {
  source = "../child"
}
