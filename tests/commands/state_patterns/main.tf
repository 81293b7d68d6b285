resource "terraform_data" "web" {
  count = 2
}

resource "terraform_data" "web_cache" {}

resource "terraform_data" "db" {
  for_each = toset(["a", "b*"])
}

module "m" {
  source = "./m"
  count  = 2
}
