# What no change of the shop may do.

input "machines" {
  type    = list(string)
  default = ["small", "medium"]
}

resource_policy "time_sleep" "database_stays" {
  operations = ["delete"]
  filter     = meta.address == "time_sleep.database"

  enforce {
    condition     = meta.operation != "delete"
    error_message = "${meta.address} has the orders of our customers. Move them before."
  }
}

resource_policy "terraform_data" "sizes" {
  filter = meta.address == "terraform_data.sizes"

  enforce {
    condition     = core::contains(input.machines, attrs.input.machine)
    error_message = "Machines may be ${core::join(" or ", input.machines)}."
  }
}
