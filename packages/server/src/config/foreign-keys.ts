const NOT_CLUSTERED = 'nodes do not talk to each other; they share a storage';
const LOG_ROTATION = 'let logrotate move the file and send SIGHUP';
const PACKAGES = 'plugins are npm packages, each named in a block of its own: plugin "name" {}';

/** Keys of other servers' configurations that are taken and need not do anything here, with the reason. */
export const IGNORED: Readonly<Record<string, string>> = {
  disable_mlock: 'memory is not locked; turn swap off, or encrypt it',
  disable_cache: 'only what changes rarely is cached',
  cache_size: 'only what changes rarely is cached',
  cluster_addr: NOT_CLUSTERED,
  cluster_cipher_suites: NOT_CLUSTERED,
  disable_clustering: NOT_CLUSTERED,
  ha_storage: NOT_CLUSTERED,
  ha_backend: NOT_CLUSTERED,
  disable_performance_standby: 'every node is active',
  disable_sealwrap: 'everything stored is encrypted once',
  disable_printable_check: 'paths are always checked',
  disable_standby_reads: 'every node is active',
  default_max_request_duration: 'the core ends every request that takes too long by itself',
  log_requests_level: 'requests are logged by audit devices',
  log_rotate_bytes: LOG_ROTATION,
  log_rotate_duration: LOG_ROTATION,
  log_rotate_max_files: LOG_ROTATION,
  plugin_directory: PACKAGES,
  plugin_tmpdir: PACKAGES,
  plugin_file_uid: PACKAGES,
  plugin_file_permissions: PACKAGES,
  plugin_auto_download: PACKAGES,
  plugin_auto_register: PACKAGES,
  plugin_download_behavior: PACKAGES,
  raw_storage_endpoint: 'raw storage is not served',
  introspection_endpoint: 'the insides are not served',
  enable_response_header_hostname: 'answers do not name the host',
  enable_response_header_raft_node_id: NOT_CLUSTERED,
  enable_post_unseal_trace: 'node has its own profiler',
  post_unseal_trace_directory: 'node has its own profiler',
  detect_deadlocks: 'there are no locks to watch',
  experiments: 'there are none',
  imprecise_lease_role_tracking: 'leases are not counted by role',
  service_registration: 'let the health of /v1/sys/health decide',
  license_path: 'no licence is needed',
  reporting: 'nothing is reported',
  allow_audit_log_prefixing: 'the option prefix of an audit device is always allowed',
  unsafe_allow_api_audit_creation: 'audit devices may be made by API',
  unsafe_cross_namespace_identity: 'there are no namespaces',
};

/** Keys whose absence somebody would notice too late. */
export const REFUSED: Readonly<Record<string, string>> = {
  initialize: 'is not offered: initialize the server with strongroom operator init',
  entropy: 'is not offered: random numbers come from the operating system',
  administrative_namespace_path: 'is not offered: there are no namespaces',
};
