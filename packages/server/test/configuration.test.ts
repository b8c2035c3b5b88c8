import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ConfigurationInvalid } from '../src/config/complaints.ts';
import type { Configuration } from '../src/config/configuration.ts';
import { IGNORED } from '../src/config/foreign-keys.ts';
import { checkConfiguration, readConfiguration, type ReadOptions } from '../src/config/read-configuration.ts';
import { API_VERSION, silentLog, systemClock } from '@strongroom/engine-sdk';
import { SealSettingsInvalid, setting, type SealPlugin } from '@strongroom/seal-sdk';
import { configuredSeals } from '../src/plugins/configured-seals.ts';
import { scratchFolder } from './scratch.ts';

const read = (text: string, options: ReadOptions = { env: {} }): Configuration =>
  checkConfiguration([{ file: 'server.hcl', text }], options);

function complaintsOf(text: string, options?: ReadOptions): readonly string[] {
  try {
    read(text, options);
  } catch (error) {
    if (error instanceof ConfigurationInvalid) return error.complaints;
    throw error;
  }
  return [];
}

const FULL = `
storage "lmdb" { path = "/srv/data", map_size = "16GiB" }
listener "tcp" {
  address = "10.0.0.1:8200"
  tls_cert_file = "/etc/cert.pem"
  tls_key_file = "/etc/key.pem"
  tls_min_version = "tls13"
  max_request_size = 1048576
  max_request_json_values = 1000
  max_body_memory = "64MiB"
  http_idle_timeout = "5m"
  x_forwarded_for_authorized_addrs = ["10.0.0.0/8", "::1"]
  custom_response_headers { "default" = { "X-Frame-Options" = ["DENY"] } }
  telemetry { unauthenticated_metrics_access = true }
}
listener "unix" { address = "/run/strongroom.sock", socket_mode = "0660" }
api_addr = "https://vault.example:8200"
cluster_name = "prod"
default_lease_ttl = "1h"
max_lease_ttl = 86400
log_level = "DEBUG"
log_format = "json"
pid_file = "/run/strongroom.pid"
audit "file" "main" { description = "all", options { file_path = "/var/log/audit.log" } }
plugin "@acme/strongroom-plugin" {}
`;

describe('a configuration', () => {
  test('takes the connection URL of its database from a file or the environment, so that no file holds a password', () => {
    const url = 'postgresql://u:p@h/d';
    const folder = scratchFolder();
    writeFileSync(join(folder, 'url'), `${url}\n`);
    const stored = (text: string, env: Record<string, string> = {}): unknown =>
      read(`storage "postgresql" { connection_url = "${text}" }`, { env }).storage;
    expect(stored('env://DATABASE', { DATABASE: url })).toEqual({ type: 'postgresql', connectionUrl: url });
    expect(stored(`file://${folder}/url`)).toEqual({ type: 'postgresql', connectionUrl: url });
    expect(stored('postgresql://other/x', { BAO_PG_CONNECTION_URL: url })).toEqual({ type: 'postgresql', connectionUrl: url });
    expect(read('storage "postgresql" {}', { env: { VAULT_PG_CONNECTION_URL: url } }).storage).toEqual({
      type: 'postgresql',
      connectionUrl: url,
    });
  });

  test('reads where etcd is, with the keys and environment variables that Vault has for it', () => {
    const text = `storage "etcd" {
      address = "https://one:2379, https://two:2379", etcd_api = "v3", path = "rooms/", ha_enabled = "true", sync = "true", lock_timeout = "15s"
      username = "strongroom", password = "env://SECRET", tls_ca_file = "/ca.pem", request_timeout = "3s", quota = "8GiB", compaction = "server"
    }`;
    const endpoints = ['https://one:2379', 'https://two:2379'];
    expect(read(text, { env: { SECRET: 'hidden' } }).storage).toEqual({
      type: 'etcd',
      endpoints,
      prefix: 'rooms/',
      username: 'strongroom',
      password: 'hidden',
      caFile: '/ca.pem',
      requestTimeoutMs: 3_000,
      compaction: 'server',
      quotaBytes: 8 * 2 ** 30,
    });
    const env = { ETCD_ADDR: endpoints.join(','), ETCD_USERNAME: 'a', ETCD_PASSWORD: 'b' };
    expect(read('storage "etcd" {}', { env }).storage).toEqual({ type: 'etcd', endpoints, username: 'a', password: 'b' });
  });

  test('switches on key ceremonies without a token for one listener alone, and only when it says so', () => {
    const text = `
      listener "tcp" { address = "127.0.0.1:1", disable_unauthed_rekey_endpoints = false, disable_unauthed_generate_root_endpoints = "false" }
      listener "tcp" { address = "127.0.0.1:2", disable_unauthed_rekey_endpoints = true }
      listener "tcp" { address = "127.0.0.1:3" }
      storage "inmem" {}`;
    expect(read(text).listeners.map(({ tokenless }) => tokenless)).toEqual([['rekey', 'generate-root'], undefined, undefined]);
    expect(complaintsOf(text.replace('= true', '= "perhaps"')).join()).toContain('disable_unauthed_rekey_endpoints');
  });

  test('takes its own address from the environment, which differs from machine to machine', () => {
    const text = 'api_addr = "https://one.example:8200"';
    expect(read(text, { env: { VAULT_API_ADDR: 'https://two.example:8200' } }).apiAddress).toBe('https://two.example:8200');
    expect(complaintsOf(text, { env: { STRONGROOM_API_ADDR: 'two' } }).join()).toContain('STRONGROOM_API_ADDR must be a URL');
  });

  test('is read whole', () => {
    expect(read(FULL)).toEqual({
      seals: [],
      storage: { type: 'lmdb', path: '/srv/data', mapSizeBytes: 16 * 1024 ** 3 },
      listeners: [
        {
          type: 'tcp',
          host: '10.0.0.1',
          port: 8200,
          tls: {
            certFile: '/etc/cert.pem',
            keyFile: '/etc/key.pem',
            clientCerts: 'requested',
            minVersion: 'TLSv1.3',
            maxVersion: 'TLSv1.3',
          },
          maxBodyBytes: 1_048_576,
          maxJsonValues: 1_000,
          maxBodyMemory: 67_108_864,
          keepAliveTimeout: 300,
          trustedProxies: ['10.0.0.0/8', '::1'],
          headers: { 'X-Frame-Options': 'DENY' },
          openMetrics: true,
        },
        { type: 'unix', path: '/run/strongroom.sock', mode: 0o660, trustedProxies: [], headers: {}, openMetrics: false },
      ],
      apiAddress: 'https://vault.example:8200',
      clusterName: 'prod',
      defaultLeaseTtl: 3600,
      maxLeaseTtl: 86_400,
      logLevel: 'debug',
      logFormat: 'json',
      pidFile: '/run/strongroom.pid',
      metrics: true,
      audit: { main: { type: 'file', description: 'all', options: { file_path: '/var/log/audit.log' } } },
      auditEmergencyDisable: [],
      console: { ui: 'if-installed', settings: {} },
      workers: 1,
      plugins: [{ name: '@acme/strongroom-plugin', from: process.cwd(), at: 'server.hcl:25' }],
      notices: [],
      sanitized: expect.objectContaining({ api_addr: 'https://vault.example:8200', storage: { type: 'lmdb' } }),
    });
  });

  test('means the same in JSON', () => {
    const json = {
      storage: { lmdb: { path: '/srv/data' } },
      listener: [{ tcp: { address: '127.0.0.1:1', tls_disable: 1 } }, { unix: { address: '/run/s.sock' } }],
      audit: { file: { main: { file_path: 'stdout' } } },
      max_lease_ttl: '2h',
    };
    const hcl = `storage "lmdb" { path = "/srv/data" }
      listener "tcp" { address = "127.0.0.1:1", tls_disable = true }
      listener "unix" { address = "/run/s.sock" }
      audit "file" "main" { file_path = "stdout" }
      max_lease_ttl = "2h"`;
    const { sanitized: _, ...fromJson } = read(JSON.stringify(json));
    const { sanitized: __, ...fromHcl } = read(hcl);
    expect(fromJson).toEqual(fromHcl);
  });

  test('that is empty gives LMDB in a folder of its own and the loopback address', () => {
    expect(read('', { env: { STRONGROOM_DATA_DIR: '/data' } })).toMatchObject({
      storage: { type: 'lmdb', path: '/data' },
      listeners: [{ type: 'tcp', host: '127.0.0.1', port: 8200 }],
    });
    expect(read('', { env: {}, dev: true })).toMatchObject({ storage: { type: 'inmem' } });
  });

  test('may be spread over files and folders, of which later ones win', () => {
    const folder = scratchFolder();
    mkdirSync(join(folder, 'conf.d'));
    writeFileSync(join(folder, 'a.hcl'), 'log_level = "warn"\nlistener "tcp" { address = "127.0.0.1:1" }');
    writeFileSync(join(folder, 'conf.d', '10.json'), '{"log_level": "error"}');
    writeFileSync(join(folder, 'conf.d', '20.hcl'), 'listener "tcp" { address = "127.0.0.1:2" }');
    writeFileSync(join(folder, 'conf.d', 'notes.txt'), 'not read');
    const found = readConfiguration([join(folder, 'a.hcl'), join(folder, 'conf.d')], { env: {} });
    expect(found.logLevel).toBe('error');
    expect(found.listeners.map((one) => one.type === 'tcp' && one.port)).toEqual([1, 2]);
    const missing = (): unknown => readConfiguration([join(folder, 'none.hcl')], { env: {} });
    expect(missing).toThrow('none.hcl: there is no such file or folder');
  });

  test('without a storage block says where the store is', () => {
    expect(read('', { env: { STRONGROOM_DATA_DIR: '/srv/data' } }).notices).toEqual([
      'server.hcl: has no storage block, so the store is in /srv/data',
    ]);
    expect(read('', { dev: true }).notices).toEqual([]);
  });

  test('accepts what needs nothing done here, and says why', () => {
    const text = Object.keys(IGNORED)
      .map((key) => `${key} = true`)
      .join('\n');
    const { notices } = read(`${text}\nstorage "inmem" {}`);
    expect(notices).toHaveLength(Object.keys(IGNORED).length);
    expect(notices[0]).toBe('server.hcl:1: disable_mlock has no effect: memory is not locked; turn swap off, or encrypt it');
  });

  test('keeps a file storage in LMDB, with a notice', () => {
    const { storage, notices } = read('storage "file" { path = "/old" }');
    expect(storage).toEqual({ type: 'lmdb', path: '/old' });
    expect(notices).toEqual([expect.stringContaining('keeps an LMDB store')]);
  });
});

describe('the lockout', () => {
  const text = `
user_lockout "all" { lockout_threshold = "10", lockout_counter_reset = "1h" }
user_lockout "userpass" {
  lockout_duration = "30m"
  disable_lockout = "true"
}`;

  test('is configured for all mounts and by their type', () => {
    expect(read(text).lockout).toEqual({
      all: { lockout_threshold: 10, lockout_counter_reset: 3600 },
      types: new Map([['userpass', { lockout_duration: 1800, lockout_disable: true }]]),
    });
    expect(read('').lockout).toBeUndefined();
  });

  test('is disabled by the environment', () => {
    for (const name of ['STRONGROOM', 'BAO', 'VAULT']) {
      const disabled = (value: string): unknown => read('', { env: { [`${name}_DISABLE_USER_LOCKOUT`]: value } }).lockout;
      expect([disabled('true'), disabled('1'), disabled('false'), disabled('')]).toEqual([
        { types: new Map(), disabled: true },
        { types: new Map(), disabled: true },
        undefined,
        undefined,
      ]);
    }
    expect(complaintsOf('', { env: { VAULT_DISABLE_USER_LOCKOUT: 'never' } })).toEqual([
      expect.stringContaining('VAULT_DISABLE_USER_LOCKOUT must be true or false'),
    ]);
  });

  test('is complained about where nobody would notice that it does nothing', () => {
    expect(complaintsOf('user_lockout "usrpass" { }')).toEqual([
      'server.hcl:1: user_lockout "usrpass": is no login method; did you mean "userpass"?',
    ]);
    expect(complaintsOf('user_lockout "ldap" { lockout_treshold = 3 }')).toEqual([
      'server.hcl:1: user_lockout "ldap": lockout_treshold is not a known key; did you mean lockout_threshold?',
    ]);
    expect(complaintsOf('user_lockout "ldap" { lockout_threshold = 0 }')).toEqual([
      'server.hcl:1: user_lockout "ldap": lockout_threshold is 0; it must be at least 1',
    ]);
    expect(complaintsOf('user_lockout "ldap" { }\nuser_lockout "ldap" { }')).toEqual(['server.hcl:2: user_lockout "ldap": is there twice']);
  });
});

describe('complaints', () => {
  test('come all at once, each with its file and line', () => {
    const text = `storage "raft" {}
listner "tcp" {}
listener "tcp" {
  address = "a:b:c"
  tls_cert_fil = "x"
}
default_lease_ttl = "1 fortnight"
log_level = "loud"
ui = [1]
workers = 400`;
    expect(complaintsOf(text)).toEqual([
      'server.hcl:1: storage "raft": this storage is not offered: use "lmdb" for one machine, or "postgresql" or "etcd" for many',
      'server.hcl:2: listner is not a known key; did you mean listener?',
      'server.hcl:4: listener "tcp": address is "a:b:c"; it must be host:port, [address]:port or :port',
      'server.hcl:5: listener "tcp": tls_cert_fil is not a known key; did you mean tls_cert_file?',
      'server.hcl:7: default_lease_ttl must be a duration such as "1h", not this text',
      'server.hcl:8: log_level is "loud"; it must be "trace", "debug", "info", "warn" or "error"',
      'server.hcl:9: ui must be true or false, not a list',
      'server.hcl:10: workers must be a number from 1 to 64, or "auto"',
    ]);
  });

  test.each([
    ['listener "tcp" { address = "0.0.0.0:8200" }', 'needs tls_cert_file and tls_key_file, or tls_disable = true'],
    ['listener "tcp" { address = ":8200" }', 'can be reached from other machines'],
    ['listener "tcp" { tls_cert_file = "/c" }', 'tls_key_file is missing'],
    ['listener "tcp" { tls_cert_file = "/c", tls_key_file = "/k", tls_min_version = "tls13", tls_max_version = "tls12" }', 'is less than'],
    ['listener "tcp" { tls_cert_file = "/c", tls_key_file = "/k", tls_min_version = "tls10" }', 'it must be "tls12" or "tls13"'],
    ['listener "tcp" { tls_cert_file = "/c", tls_key_file = "/k", tls_require_and_verify_client_cert = true }', 'needs tls_client_ca_file'],
    [
      'listener "tcp" { tls_cert_file = "/c", tls_key_file = "/k", tls_client_ca_file = "/a", tls_require_and_verify_client_cert = true, tls_disable_client_certs = true }',
      'tls_disable_client_certs contradicts tls_require_and_verify_client_cert',
    ],
    ['listener "tcp" { x_forwarded_for_client_cert_header = "Client-Cert" }', 'needs x_forwarded_for_authorized_addrs'],
    ['listener "tcp" { x_forwarded_for_client_cert_header = "a b", x_forwarded_for_authorized_addrs = "::1" }', "no header's name"],
    [
      'listener "unix" { address = "/s", x_forwarded_for_client_cert_header = "C", x_forwarded_for_authorized_addrs = "::1" }',
      'needs a listener "tcp"',
    ],
    ['listener "tcp" { x_forwarded_for_client_cert_decoders = "URL" }', 'needs x_forwarded_for_client_cert_header'],
    [
      'listener "tcp" { x_forwarded_for_client_cert_header = "C", x_forwarded_for_authorized_addrs = "::1", x_forwarded_for_client_cert_decoders = ["URL", "ROT13"] }',
      'holds "ROT13"; a decoder is "RFC9440", "URL", "PEM", "BASE64" or "DER"',
    ],
    ['listener "tcp" { x_forwarded_for_authorized_addrs = "10.0.0.0/40" }', 'neither an address nor a network'],
    ['listener "tcp" { proxy_protocol_behavior = "use_always" }', 'is not offered'],
    ['listener "tcp" { custom_response_headers { default = { "a b" = "c" } } }', "is no header's name"],
    ['listener "tcp" { max_request_size = "many" }', 'must be a size such as "32MiB"'],
    ['listener "quic" {}', 'is no kind of listener'],
    ['listener "unix" {}', 'address is required'],
    ['listener {}', 'takes one label: listener "type" { … }'],
    ['storage "lmdb" {}\nstorage "inmem" {}', 'a second storage'],
    ['storage "postgresql" {}', 'connection_url is required'],
    ['storage "etcd" {}', 'address is required'],
    ['storage "etcd" { address = "a", etcd_api = "v2" }', 'etcd_api is "v2"; only "v3" is supported'],
    ['storage "etcd" { address = "a", discovery_srv = "b" }', 'members are not looked up in DNS'],
    ['storage "etcd" { address = "a", tls_cert_file = "b" }', 'a certificate needs its key'],
    ['storage "etcd" { address = "a", username = "b" }', 'a user name needs its password'],
    ['storage "etcd" { address = "a", compaction = "never" }', 'it must be "driver" or "server"'],
    ['storage "postgresql" { connection_url = "" }', 'connection_url is required'],
    ['storage "postgresql" { connection_url = "env://NOT_SET" }', 'the environment variable "NOT_SET", which is not set'],
    ['storage "postgresql" { connection_url = "file:///no/such/file" }', 'the file "/no/such/file", which cannot be read: ENOENT'],
    ['storage "postgresql" { connection_url = "file:///dev/null" }', 'the file "/dev/null", which is empty'],
    ['storage "floppy" {}', 'is not a storage type; it must be "lmdb", "postgresql", "etcd" or "inmem"'],
    ['seal "kmip" {}', 'this seal is not offered'],
    ['seal "kettle" {}', '"kettle" is no seal; it must be "static", "awskms"'],
    ['seal "static" {}', 'current_key is required'],
    ['seal "static" { current_key = "env://NOT_SET" }', 'the environment variable "NOT_SET", which is not set'],
    ['default_lease_ttl = "2h"\nmax_lease_ttl = "1h"', 'is longer than max_lease_ttl'],
    ['log_level = "info"\nlog_level = "warn"', 'is set twice: first at server.hcl:1'],
    ['api_addr = "vault.example:8200"', 'must be a URL'],
    ['plugin "../../x y" {}\nplugin "no good" {}', 'is neither the name of a package nor a path'],
    ['audit "file" {}', 'takes 2 labels'],
    ['initialize "x" {}', 'strongroom operator init'],
    ['log_level = ', 'is neither HCL nor JSON'],
  ])('about %j say what is wrong', (text, complaint) => {
    expect(complaintsOf(text).join('\n')).toContain(complaint);
  });

  test('of a development server do not mind plain HTTP', () => {
    expect(complaintsOf('listener "tcp" { address = "0.0.0.0:8200" }', { env: {}, dev: true })).toEqual([]);
    expect(complaintsOf('listener "tcp" { address = "0.0.0.0:8200", tls_disable = "true" }')).toEqual([]);
  });

  test('hold no value that may be a secret', () => {
    const secret = 'correct-horse-battery';
    const text = `seal "static" { current_key = "${secret}", previous_key = ["${secret}"] }
      storage "postgresql" { connection_url = "mysql://u:${secret}@h/d" }`;
    const complaints = complaintsOf(text);
    expect(complaints).toHaveLength(3);
    expect(complaints.join('\n')).not.toContain(secret);
  });

  test('are all that any text can cause', () => {
    const words = fc.constantFrom(
      'storage',
      'listener',
      'seal',
      'audit',
      'plugin',
      'telemetry',
      '"tcp"',
      '"static"',
      '"lmdb"',
      '{',
      '}',
      '=',
      '[',
      ']',
      ',',
      '\n',
      '1',
      'true',
      '"x"',
      'address',
      'ui',
      '__proto__',
      'constructor',
      'options',
      '<<E\n',
      '"${',
    );
    const key = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'storage',
        'listener',
        'seal',
        'static',
        'tcp',
        'unix',
        'lmdb',
        'audit',
        'plugin',
        'address',
        'current_key',
        'custom_response_headers',
        'default',
        '__proto__',
        'telemetry',
        'log_level',
        'map_size',
      ),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue({ maxDepth: 1 }),
        fc.dictionary(key, tie('tree')),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    }));
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words, { maxLength: 40 }).map((list) => list.join(' ')),
      fc.dictionary(key, tree).map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(text, (input) => {
        for (const complaint of complaintsOf(input, { env: {} })) expect(complaint).toMatch(/^server\.hcl(?::\d+)?: ./);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('seals', () => {
  const key = Buffer.alloc(32, 7);
  const hex = key.toString('hex');
  const wrapped = `seal "static" { current_key_id = "1", current_key = "${hex}" }`;
  const opened = async (text: string, env: Record<string, string> = {}) =>
    configuredSeals(read(text, { env }).seals, { plugins: [], clock: systemClock, log: silentLog });
  const signal = AbortSignal.timeout(60_000);
  /** Whether the first seal of one configuration opens what that of another has wrapped. */
  const opens = async (text: string, other: string, env: Record<string, string> = {}): Promise<boolean> => {
    const [one, two] = [await (await opened(other))[0]!.open(), await (await opened(text, env))[0]!.open()];
    const { blob } = await one.wrap({ plain: key, aad: key, signal });
    return two.unwrap({ blob, aad: key, signal }).then(
      (plain) => key.equals(plain),
      () => false,
    );
  };

  test.each([
    ['hex', `current_key = "${hex}"`],
    ['base64', `current_key = "${key.toString('base64')}"`],
    ['an environment variable', 'current_key = "env://SEAL_KEY"'],
  ])('static takes its key from %s', async (_, setting) => {
    expect(await opens(`seal "static" { current_key_id = "1", ${setting} }`, wrapped, { SEAL_KEY: hex })).toBe(true);
  });

  test('static takes its keys from files, raw or written', async () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, 'raw'), Buffer.alloc(32, 8));
    writeFileSync(join(folder, 'hex'), `${hex}\n`);
    const text = `seal "static" {
      current_key_id = "2"
      current_key = "file://${folder}/raw"
      previous_key_id = "1"
      previous_key = "file://${folder}/hex"
    }`;
    expect(await opens(text, wrapped)).toBe(true);
  });

  test('wait for the file of a key where that cannot be read yet, and say so', async () => {
    const folder = scratchFolder();
    const text = `storage "inmem" {}\nseal "static" { current_key_id = "1", current_key = "file://${folder}/key" }`;
    expect(read(text).notices).toEqual([
      expect.stringMatching(/seal.*current_key names the file .*cannot be read: ENOENT; the server stays sealed/),
    ]);
    const [seal] = await opened(text);
    await expect(seal!.open()).rejects.toThrow(/cannot be read: ENOENT/);
    writeFileSync(join(folder, 'key'), 'short');
    await expect(seal!.open()).rejects.toThrow(/must hold 32 bytes/);
    writeFileSync(join(folder, 'key'), `${hex}\n`);
    expect(await (await seal!.open()).keyId({ signal })).toBe('1');
  });

  test('take settings from the environment, which wins over the file', async () => {
    const other = `seal "static" { current_key = "${'00'.repeat(32)}" }`;
    expect(await opens(other, wrapped, { BAO_STATIC_SEAL_CURRENT_KEY: hex })).toBe(true);
    expect(await opens('', wrapped, { VAULT_SEAL_TYPE: 'static', VAULT_STATIC_SEAL_CURRENT_KEY: hex })).toBe(true);
  });

  test('of one type need names, and a variable of the environment changes none of them', () => {
    const two = (more: string): string => `${wrapped}\nseal "static" { ${more} current_key = "${'01'.repeat(32)}" }`;
    expect(complaintsOf(two(''))).toEqual([expect.stringContaining('two enabled seals are called "static": give each a name of its own')]);
    expect(read(two('name = "b"\npriority = 2\n')).seals.map(({ name, priority, envWins }) => [name, priority, envWins])).toEqual([
      [undefined, undefined, false],
      ['b', 2, false],
    ]);
    expect(read(two('disabled = "true"\n')).seals.map(({ disabled }) => disabled)).toEqual([false, true]);
  });

  test('have settings for their health checks', () => {
    const text = `seal "awskms" { kms_key_id = "k", health_check_interval = "5m", health_check_enabled = "false", purpose = "x" }`;
    expect(read(text).seals[0]).toMatchObject({
      block: { kms_key_id: 'k' },
      health: { enabled: false, timeout: 60_000, interval: 300_000, unhealthyInterval: 60_000 },
    });
  });

  test.each([
    [[1, 2, 3, 4].map((n) => `seal "awskms" { name = "n${n}" }`).join('\n'), {}, 'there are 4 enabled seals: at most 3 can be'],
    ['seal "awskms" { name = "a b" }', {}, 'must be a short name'],
    ['seal "awskms" { priority = 0 }', {}, 'it must be between 1 and 1000'],
    ['seal "awskms" { kms_key_id = ["k"] }', {}, 'must be a string'],
    ['seal "shamir" { kms_key_id = "k" }', {}, 'kms_key_id is not a known key'],
    [wrapped, { BAO_SEAL_TYPE: 'awskms' }, 'BAO_SEAL_TYPE says "awskms", and the configuration enables "static"'],
    ['', { VAULT_SEAL_TYPE: 'kettle' }, '"kettle" is no seal'],
  ])('%s is complained about', (text, env, complaint) => {
    expect(complaintsOf(text, { env })).toEqual([expect.stringContaining(complaint)]);
  });

  test('whose package is not installed, or that no package brings, keep the server from starting', async () => {
    await expect(opened('seal "pkcs11" { lib = "/l" }')).rejects.toThrow(/server.hcl:1: seal "pkcs11": its package|is required/);
    await expect(opened('plugin "x" {}\nseal "kettle" {}')).rejects.toThrow(
      'no package that a plugin block names brings the seal "kettle"',
    );
  });

  test('of a package that a plugin block names are opened with what it declares', async () => {
    const box: SealPlugin = {
      ...{
        kind: 'seal',
        name: 'box',
        title: 'box',
        apiVersion: API_VERSION,
        settings: { lid: setting.text('The lid.', { required: true }) },
      },
      check: (values) => (values['lid'] === 'none' ? ['lid must not be "none"'] : []),
      open: async () => Promise.reject(new SealSettingsInvalid('the lid does not fit')),
    };
    const open = async (block: string): Promise<unknown> =>
      configuredSeals(read(`plugin "x" {}\nseal "box" { ${block} }`).seals, { plugins: [box], clock: systemClock, log: silentLog });
    await expect(open('')).rejects.toThrow('seal "box": lid is required');
    await expect(open('ldi = "x"\nlid = "x"')).rejects.toThrow('ldi is not a known key; did you mean lid?');
    await expect(open('lid = "none"')).rejects.toThrow('lid must not be "none"');
    await expect(open('lid = "red"')).rejects.toThrow('the lid does not fit');
  });

  test('show no key in the sanitised configuration', () => {
    const { sanitized } = read(`${wrapped}
      storage "postgresql" { connection_url = "postgresql://u:hunter2@h/d" }
      cluster_name = "c"`);
    expect(sanitized).toMatchObject({
      seals: [{ type: 'static', disabled: false }],
      storage: { type: 'postgresql' },
      cluster_name: 'c',
    });
    expect(JSON.stringify(sanitized)).not.toMatch(new RegExp(`hunter2|${key.toString('hex')}`));
  });

  test('lists listeners, storage and seals under the names that support scripts read', () => {
    const { sanitized } = read(`seal "static" { current_key_id = "1", current_key = "${key.toString('hex')}" }
      listener "tcp" { address = "127.0.0.1:1", tls_disable = true }
      listener "tcp" { address = "127.0.0.1:2", tls_disable = true }
      listener "unix" { address = "/run/s.sock" }`);
    expect(sanitized).toMatchObject({
      api_addr: '',
      listeners: [
        { type: 'tcp', config: { address: '127.0.0.1:1', tls_disable: true } },
        { type: 'tcp', config: { address: '127.0.0.1:2' } },
        { type: 'unix', config: { address: '/run/s.sock' } },
      ],
      seals: [{ type: 'static', disabled: false }],
    });
  });
});
