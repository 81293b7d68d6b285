policytest {
  targets = ["disks.policy.hcl"]
}

data "google_kms_crypto_key" "disks" {
  attrs = {
    name     = "disks"
    key_ring = "storage"
    id       = "storage/disks"
  }
}

data "hcloud_image" "arm" {
  attrs = {
    most_recent = true
    filter = [
      { name = "architecture", values = ["arm"] },
      { name = "status", values = ["available"] },
    ]
    id = 4711
  }
}

resource "google_compute_disk" "good" {
  attrs = {
    size      = 10
    encrypted = true
    key       = data.google_kms_crypto_key.disks.id
  }
}

resource "google_compute_disk" "open" {
  expect_failure = true

  attrs = {
    size      = 10
    encrypted = false
  }
}

resource "google_compute_disk" "other_key" {
  expect_failure = true

  attrs = {
    size      = 10
    encrypted = true
    key       = "storage/mail"
  }
}

resource "hcloud_server" "good" {
  attrs = {
    image = data.hcloud_image.arm.id
  }
}

resource "hcloud_server" "old" {
  expect_failure = true

  attrs = {
    image = 815
  }
}
