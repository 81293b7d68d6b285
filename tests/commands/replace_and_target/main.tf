resource "terraform_data" "a" {
  input = "a"
}

resource "terraform_data" "b" {
  input = terraform_data.a.id
}

resource "terraform_data" "c" {
  input = "c"

  lifecycle {
    create_before_destroy = true
  }
}

resource "terraform_data" "d" {
  lifecycle {
    replace_triggered_by = [terraform_data.c]
  }
}
