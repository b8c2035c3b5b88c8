# Replace this file by mounting your own folder at /etc/strongroom. TLS ends in front of the container, or here: see the production guide.
storage "lmdb" {
  path = "/var/lib/strongroom"
}

listener "tcp" {
  address     = "0.0.0.0:8200"
  tls_disable = true
}

log_format = "json"

# One process. "auto" starts one less than the cores that the container may use.
workers = 1
