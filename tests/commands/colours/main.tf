variable "v" {
  default = "a"
}

resource "terraform_data" "a" {
  input = {
    text = "multi\nline\n${var.v}\n"
    json = jsonencode({ a = var.v, b = [1, 2] })
  }
}

resource "terraform_data" "b" {
  count            = var.v == "d" ? 1 : 2
  input            = terraform_data.a.output
  triggers_replace = var.v == "c" ? "new" : "old"
}

resource "terraform_data" "c" {
  input = var.v == "b" ? sensitive("x") : "x"
  lifecycle {
    create_before_destroy = true
  }
  depends_on = [terraform_data.b]
}

check "same" {
  assert {
    condition     = length(var.v) == length("a") && var.v == "a"
    error_message = "v is ${var.v}"
  }
}

output "o" {
  value = var.v
}
