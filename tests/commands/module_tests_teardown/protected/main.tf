resource "terraform_data" "protected" {
  lifecycle {
    prevent_destroy = true
  }
}
