import type { EtcdChoice } from './configuration.ts';
import { shown, type Section } from './section.ts';
import { secretText } from './secret-text.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const NO_HA = 'every node of a shared storage is active';

/** `storage "etcd"`, with the keys that Vault has for it. The environment counts more than what is written. */
export function readEtcd(section: Section, env: Environment): EtcdChoice | undefined {
  const written = section.strings('address');
  const endpoints = env['ETCD_ADDR']?.split(',').map((each) => each.trim()) ?? written ?? [];
  const username = env['ETCD_USERNAME'] ?? section.text('username');
  const secret = secretText(section, 'password', env);
  const password = env['ETCD_PASSWORD'] ?? secret;
  const prefix = section.text('path');
  const [caFile, certFile, keyFile] = [section.text('tls_ca_file'), section.text('tls_cert_file'), section.text('tls_key_file')];
  const tlsDisable = section.bool('tls_disable');
  const timeout = section.duration('request_timeout', { min: 1 });
  const quotaBytes = section.bytes('quota', { min: 1024 * 1024 });
  const allowSmallLimits = section.bool('allow_small_limits');
  const compaction = section.text('compaction');
  const api = section.scalar('etcd_api');
  section.ignore({
    ha_enabled: NO_HA,
    lock_timeout: NO_HA,
    sync: 'the members are those of address',
    max_receive_size: 'answers may be as large as what is stored',
  });
  section.refuse({
    discovery_srv: 'members are not looked up in DNS: list them in address',
    discovery_srv_name: 'members are not looked up in DNS: list them in address',
  });
  if (api !== undefined && !/^v?3$/.test(api)) section.complain('etcd_api', `is ${shown(api)}; only "v3" is supported`);
  if (compaction !== undefined && compaction !== 'driver' && compaction !== 'server')
    section.complain('compaction', `is ${shown(compaction)}; it must be "driver" or "server"`);
  if ((certFile === undefined) !== (keyFile === undefined))
    section.complain(certFile === undefined ? 'tls_key_file' : 'tls_cert_file', 'a certificate needs its key, and a key its certificate');
  if ((username === undefined) !== (password === undefined) && section.text('password') === undefined)
    section.complain('username', 'a user name needs its password, and a password its user name');
  if (endpoints.length === 0) {
    section.complainHere('address is required, such as "https://etcd-1.example:2379,https://etcd-2.example:2379"');
    return undefined;
  }
  return {
    type: 'etcd',
    endpoints,
    ...(prefix === undefined ? {} : { prefix }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(caFile === undefined ? {} : { caFile }),
    ...(certFile === undefined ? {} : { certFile }),
    ...(keyFile === undefined ? {} : { keyFile }),
    ...(timeout === undefined ? {} : { requestTimeoutMs: timeout * 1_000 }),
    ...(tlsDisable === undefined ? {} : { tlsDisable }),
    ...(compaction === 'driver' || compaction === 'server' ? { compaction } : {}),
    ...(quotaBytes === undefined ? {} : { quotaBytes }),
    ...(allowSmallLimits === undefined ? {} : { allowSmallLimits }),
  };
}
