import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { diagnose, type Finding, type Machine } from '../src/index.ts';
import { checkMachine } from '../src/diagnose/machine-checks.ts';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import { TestAuthority } from './certificates.ts';
import { scratchFolder } from './scratch.ts';

const machine = (files: Readonly<Record<string, string>> = {}, user: Machine['user'] = { id: 1000, name: 'strongroom' }): Machine => ({
  user,
  read: async (path) => (Object.hasOwn(files, path) ? files[path] : undefined),
});
const GOOD = machine({
  '/proc/self/limits':
    'Limit  Soft Limit  Hard Limit  Units\nMax core file size  0  unlimited  bytes\nMax open files  65536  65536  files\n',
  '/proc/swaps': 'Filename  Type  Size  Used  Priority\n',
  '/proc/sys/kernel/core_pattern': 'core\n',
  '/run/systemd/timesync/synchronized': '',
});

describe('the machine', () => {
  const found = async (one: Machine, check: string): Promise<Finding> =>
    (await checkMachine(one)).find((finding) => finding.check === check)!;

  test('is in order', async () => {
    expect((await checkMachine(GOOD)).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  test.each([
    ['open files', { '/proc/self/limits': 'Max open files  1024  4096  files\n' }, '1024 files may be open at a time'],
    [
      'core dumps',
      { '/proc/self/limits': 'Max core file size  unlimited  unlimited  bytes\n' },
      'leaves its memory, secrets among it, in a file',
    ],
    [
      'core dumps',
      { '/proc/self/limits': 'Max core file size  unlimited  unlimited  bytes\n', '/proc/sys/kernel/core_pattern': '|/usr/lib/x %p\n' },
      'with a program of the system',
    ],
    ['swap', { '/proc/swaps': 'Filename Type\n/dev/sda2 partition 1 0 -2\n' }, 'may be written to /dev/sda2'],
  ])('is not, for %s with %j', async (check, files, text) => {
    const finding = await found(machine(files), check);
    expect([finding.status, finding.message]).toEqual(['warning', expect.stringContaining(text)]);
    expect(finding.advice).toBeTruthy();
  });

  test('may have swap that is encrypted or in memory', async () => {
    const files = {
      '/proc/swaps': 'Filename Type\n/dev/dm-1 partition 1 0 -2\n/dev/zram0 partition 1 0 5\n',
      '/sys/block/dm-1/dm/uuid': 'CRYPT-PLAIN-swap\n',
    };
    expect(await found(machine(files), 'swap')).toMatchObject({ status: 'ok' });
  });

  test('should not run it as root; what it does not tell is skipped', async () => {
    expect(await found(machine({}, { id: 0, name: 'root' }), 'user')).toMatchObject({ status: 'warning' });
    const silent: Machine = { ...machine(), user: undefined };
    expect(new Set((await checkMachine(silent)).map(({ status }) => status))).toEqual(new Set(['skipped']));
  });
});

describe('a configuration', () => {
  const folder = scratchFolder();
  const data = join(folder, 'data');
  const at = (name: string): string => join(folder, name);
  const run = async (text: string, now = new Date()): Promise<Finding[]> => {
    writeFileSync(at('server.hcl'), text);
    return diagnose([at('server.hcl')], { env: {}, machine: GOOD, now });
  };
  const STORAGE = `storage "lmdb" { path = "${data}" }\n`;
  const LISTENER = 'listener "tcp" { address = "127.0.0.1:0" }\n';
  const bad = (findings: readonly Finding[]): string[] =>
    findings.filter(({ status }) => status === 'warning' || status === 'failure').map(({ check, message }) => `${check}: ${message}`);

  test('that can be used has no complaints, and no store is made', async () => {
    expect(bad(await run(STORAGE + LISTENER))).toEqual([]);
    expect(existsSync(data)).toBe(false);
  });

  test('sees a folder below a symbolic link to nothing', async () => {
    symlinkSync(at('gone'), at('link'));
    expect(bad(await run(`storage "lmdb" { path = "${at('link')}/data" }\n${LISTENER}`))).toEqual([
      `storage lmdb: ${at('link')}/data is, or is below, a symbolic link to nothing`,
    ]);
  });

  test('has every complaint of the configuration', async () => {
    expect(bad(await run('stroage "lmdb" {}\nlog_level = "loud"'))).toEqual([
      expect.stringMatching(/^configuration: .*stroage is not a known key/),
      expect.stringMatching(/^configuration: .*log_level is "loud"/),
    ]);
  });

  test('opens the store that is there, and changes nothing in it', async () => {
    const store = await lmdbStorage({ path: data });
    await store.commit({ put: [{ key: 'a', value: new Uint8Array(1) }] });
    await store.close();
    expect(await run(STORAGE + LISTENER)).toContainEqual({ check: 'storage lmdb', status: 'ok', message: 'it opens, and is in use' });
    const again = await lmdbStorage({ path: data });
    expect((await again.range({ prefix: '' })).map(({ key }) => key)).toEqual(['a']);
    await again.close();
    chmodSync(data, 0o755);
    expect(bad(await run(STORAGE + LISTENER))).toEqual([expect.stringMatching(/other users may look into .*data \(mode 755\)/)]);
    chmodSync(data, 0o700);
  });

  test('sees a clock that is behind the store', async () => {
    const later = new Date(Date.now() + 86_400_000);
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, 'x'), '');
    utimesSync(join(data, 'x'), later, later);
    expect(bad(await run(STORAGE + LISTENER))).toContainEqual(expect.stringMatching(/^clock: .*but the store was written at/));
    utimesSync(join(data, 'x'), new Date(), new Date());
  });

  test('sees an address that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const found = bad(await run(`${STORAGE}listener "tcp" { address = "127.0.0.1:${port}" }`));
    other.close();
    expect(found).toEqual([`listener tcp 127.0.0.1:${port}: the address is in use`]);
  });

  test('sees a seal whose key is not there, and shows no key', async () => {
    const key = 'ab'.repeat(32);
    const findings = await run(`${STORAGE}${LISTENER}seal "static" { current_key_id = "1", current_key = "${key}" }`);
    expect(findings).toContainEqual({ check: 'seal static', status: 'ok', message: 'its key wraps and unwraps' });
    expect(JSON.stringify(findings)).not.toContain(key);
    const none = await run(`${STORAGE}${LISTENER}seal "static" { current_key_id = "1", current_key = "file://${at('none')}" }`);
    expect(bad(none)).toEqual([expect.stringMatching(/^seal static: its key cannot be used: .*none.*ENOENT/)]);
  });

  test('sees certificates that end, have ended, do not fit, or follow in the wrong order', async () => {
    const authority = new TestAuthority(folder);
    const other = new TestAuthority(folder, 'other');
    const { certFile, keyFile } = authority.issue('server');
    const listener = (cert: string): string =>
      `${STORAGE}listener "tcp" { address = "127.0.0.1:0", tls_cert_file = "${cert}", tls_key_file = "${keyFile}" }`;
    const chain = at('chain.pem');
    writeFileSync(chain, readFileSync(certFile, 'utf8') + readFileSync(authority.caFile, 'utf8'));
    expect(bad(await run(listener(chain)))).toEqual([
      expect.stringMatching(/the certificate of CN=server ends in [01] days/),
      expect.stringMatching(/the certificate of CN=ca ends in [01] days/),
    ]);
    const ended = bad(await run(listener(chain), new Date(Date.now() + 10 * 86_400_000)));
    expect(ended).toContainEqual(expect.stringMatching(/the certificate of CN=server ended at/));
    expect(bad(await run(listener(certFile)))).toContainEqual(expect.stringMatching(/has no certificate of its issuer, CN=ca/));
    writeFileSync(chain, readFileSync(certFile, 'utf8') + readFileSync(other.caFile, 'utf8'));
    expect(bad(await run(listener(chain)))).toContainEqual(
      expect.stringMatching(/the certificate of CN=other follows that of CN=server, which it has not signed/),
    );
    expect(bad(await run(listener(authority.caFile)))).toContainEqual(expect.stringMatching(/is not the key of the certificate/));
  });
});
