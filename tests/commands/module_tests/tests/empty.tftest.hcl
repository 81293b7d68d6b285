variables {
  size = 7
}
