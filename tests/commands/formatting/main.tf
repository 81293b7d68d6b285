variable "names" {
type = "list"
  default=["a",  "b"]
}

locals {
first="${join(",",var.names)}" # a list
  second   =   2 // a number
}
output second {
value=local.second
}
