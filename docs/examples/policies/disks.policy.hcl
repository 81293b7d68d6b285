# Disks: data sources in policies.

locals {
  disk_key = core::getdatasource("google_kms_crypto_key", {
    name     = "disks"
    key_ring = "storage"
  })

  # Nested blocks of a data source are lists of objects.
  image = core::getdatasource("hcloud_image", {
    most_recent = true
    filter = [
      { name = "architecture", values = ["arm"] },
      { name = "status", values = ["available"] },
    ]
  })

  archive_key = core::try(core::getdatasource("google_kms_crypto_key", { name = "archive" }), null)
  has_archive = local.archive_key != null
}

resource_policy "google_compute_disk" "encrypted" {
  enforce {
    condition     = attrs.encrypted == true
    error_message = "The disk is not encrypted."
  }
}

resource_policy "google_compute_disk" "key" {
  filter = attrs.encrypted == true

  enforce {
    condition     = attrs.key == local.disk_key.id
    error_message = "Disks are encrypted with the key ${local.disk_key.id}."
  }

  enforce {
    condition     = !local.has_archive || attrs.key != local.archive_key.id
    error_message = "The key of the archive is not for disks."
  }
}

resource_policy "hcloud_server" "image" {
  enforce {
    condition     = attrs.image == local.image.id
    error_message = "Servers start from the image ${local.image.id}."
  }
}
