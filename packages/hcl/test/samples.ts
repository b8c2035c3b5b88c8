/** Texts that both this parser and the original HCL 1 must read alike. */
export const SAMPLES: Readonly<Record<string, string>> = {
  'nothing at all': '',
  'comments only': '# one\n// two\n/* three\n lines */\n',
  'a policy': `
# Allow tokens to look up their own properties
path "auth/token/lookup-self" {
    capabilities = ["read"]
}
path "secret/data/+/team/*" {
  capabilities = ["create", "update", "patch",]
  allowed_parameters = {
    "owner" = []
    "stage" = ["dev", "prod-*"]
    "*"     = []
  }
  required_parameters = ["owner"]
  min_wrapping_ttl = "1s"
  max_wrapping_ttl = "90s" // at most
}
path "identity/{{identity.entity.id}}/*" { capabilities = ["deny"] }
path "a" { policy = "write" } path "b" { policy = "read" }
`,
  'a policy with a control group': `
path "kv/x" {
  capabilities = ["read"]
  control_group = {
    ttl = "4h"
    factor "ops" {
      identity {
        group_names = ["managers", "leads"]
        approvals = 2
      }
    }
  }
}
`,
  'a server configuration': `
ui            = true
cluster_addr  = "https://127.0.0.1:8201"
api_addr      = "https://127.0.0.1:8200"
disable_mlock = true
default_lease_ttl = "768h"

storage "raft" {
  path = "/path/to/raft/data"
  node_id = "raft_node_id"
  performance_multiplier = 1
  retry_join {
    leader_api_addr = "http://127.0.0.2:8200"
  }
  retry_join {
    leader_api_addr = "http://127.0.0.3:8200"
  }
}

listener "tcp" {
  address       = "127.0.0.1:8200"
  tls_cert_file = "/path/to/full-chain.pem"
  tls_key_file  = "/path/to/private-key.pem"
  tls_disable   = "false"
  custom_response_headers {
    "default" = {
      "Strict-Transport-Security" = ["max-age=31536000","includeSubDomains"]
    }
  }
}
listener "unix" { address = "/run/x.sock" }

telemetry {
  statsite_address = "127.0.0.1:8125"
  disable_hostname = true
}
`,
  'a password policy': 'length = 20\nrule "charset" {\n charset = "abc\\"\\\\$"\n min-chars = 1\n}\nrule "charset" { charset = "01" }\n',
  numbers: 'a = 1\nb = -2\nc = 0x1F\nd = 010\ne = 1.5\nf = -0.25\ng = 1e3\nh = 2.5E-2\ni = 0\nk = 0.5\n',
  'strings with escapes': 'a = "tab\\tquote\\"back\\\\"\nb = "\\u00e9\\U0001F600\\x41\\101"\nc = "gr\u00fc\u00df"\nd = ""\n',
  interpolations: 'a = "x ${func("quoted", "b")} y"\nb = "${a{b}c}"\nc = "$notone $"\n',
  heredocs: 'a = <<EOT\none\n  two\nEOT\nb = <<-EOT\n    three\n      four\n    EOT\nc = <<-X\n  five\n six\n   X\nd = <<EOT\nEOT\n',
  'bare labels': 'resource aws_instance web { ami = "x" }\nresource "aws" db { ami = "y" }\n',
  'dots and dashes in keys': 'a.b-c = 1\n_x = 2\n"quoted key" = 3\n',
  'lists of everything':
    'a = [1, 2.5, "x", ["nested", []], { k = 1 }, { k = 2, j = 3 }]\nb = []\nc = [\n  # comment\n  1, # one\n  2,\n]\n',
  'objects on one line': 'a = { b = 1, c = 2 }\nd { e = "f" }\ng {}\n',
  'Windows line ends': 'a = 1\r\nb {\r\n  c = "d"\r\n}\r\n',
  'repeated blocks without labels': 'a { x = 1 }\na { x = 2 }\na { y = 3 }\n',
};

/** Texts that both must refuse. */
export const BROKEN: readonly string[] = [
  'path "x" {',
  'path "x" { capabilities = ["read" }',
  'path "x" { capabilities = ["read" "list"] }',
  'path "x" }',
  '= 1',
  'a = b',
  'a b = 1',
  'a = "unterminated',
  'a = "line\nbreak"',
  'a = "\\q"',
  'a = 0x',
  'a = 089',
  'a = [1',
  'a = <<EOT\nnever ends',
  'a = <<\nx\n\n',
  '/* never ends',
  'a / b',
  'a = ?',
  '{ "a" 1 }',
];
