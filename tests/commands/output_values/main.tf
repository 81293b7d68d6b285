output "text" {
  value = "with \"quotes\" and ${"$"}{braces}"
}

output "lines" {
  value = "one\ntwo\n"
}

output "number" {
  value = 1.5
}

output "truth" {
  value = true
}

output "nothing" {
  value = null
}

output "nested" {
  value = { list = [1, "two", null], map = { "a key" = { b = [] } }, none = {} }
}

output "secret" {
  value     = "hidden"
  sensitive = true
}

output "set" {
  value = toset(["b", "a"])
}
