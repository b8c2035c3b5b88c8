# OpenBao 2.6's agent (`bao agent -config=agent.hcl`), or Vault's. It logs in, renews, and writes files anew when secrets change.
vault {
  address = "https://strongroom.example.org:8200"
}

auto_auth {
  method "approle" {
    config = {
      role_id_file_path                   = "/etc/app/role-id"
      secret_id_file_path                 = "/etc/app/secret-id"
      secret_id_response_wrapping_path    = "auth/approle/role/app/secret-id"
      remove_secret_id_file_after_reading = true
    }
  }
}

template {
  contents    = "{{ with secret \"secret/data/app\" }}user={{ .Data.data.user }}\n{{ end }}"
  destination = "/run/app/settings"
  perms       = "0600"
}

template {
  contents    = "{{ with secret \"database/creds/app\" }}password={{ .Data.password }}\n{{ end }}"
  destination = "/run/app/database"
  perms       = "0600"
  exec {
    command = ["systemctl", "reload", "app"]
  }
}
