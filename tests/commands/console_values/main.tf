variable "count_of_items" {
  default = 2
}

variable "secret" {
  default   = "hush"
  sensitive = true
}

variable "passing" {
  default   = "by"
  ephemeral = true
}

variable "required" {
  type = list(string)
}

variable "checked" {
  type    = number
  default = 7

  validation {
    condition     = var.checked > 5
    error_message = "Too small."
  }
}

locals {
  shout  = { for k in ["b", "a"] : k => upper(k) }
  hidden = { open = 1, secret = var.secret }
  lines  = { text = "one\ntwo\n" }
}

resource "terraform_data" "single" {
  input = { n = 1, s = "x" }
}

resource "terraform_data" "counted" {
  count = var.count_of_items
  input = "v${count.index}"
}

resource "terraform_data" "keyed" {
  for_each = toset(["p", "q"])
  input    = each.key
}

module "child" {
  source   = "./child"
  for_each = { k = "from the root" }
  text     = each.value
}
