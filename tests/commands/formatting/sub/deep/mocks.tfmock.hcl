mock_resource "x" {
defaults={}
}
