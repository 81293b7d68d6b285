variable "size" {
  default    = 0
  deprecated = "Use length."
}
