output "slug" {
  value = provider::todo::slug("Buy milk")
}
