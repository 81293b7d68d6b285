variable "old" {
  default    = 1
  deprecated = "use new"
}

output "id" {
  value      = "x"
  deprecated = "use ids"
}
