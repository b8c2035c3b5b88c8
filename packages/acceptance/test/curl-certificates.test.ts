import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeCertificate, type MadeCertificate } from '@strongroom/lab';
import { readConfiguration, startServer, type RunningServer } from '@strongroom/server';

const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
const root = makeCertificate({ subject: 'CN=Root', authority: true });
const middle = makeCertificate({ subject: 'CN=Middle', issuer: root, authority: true });
const missing = spawnSync('curl', ['--version']).status === 0 ? undefined : 'curl is not installed';
const file = (name: string): string => join(folder, name);

interface Answer {
  readonly errors?: readonly string[];
  readonly auth?: { readonly client_token: string; readonly policies: readonly string[] };
}

(missing === undefined ? describe : describe.skip)(
  `curl with client certificates${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let server: RunningServer;
    const stored = (name: string, made: MadeCertificate): MadeCertificate => {
      writeFileSync(file(`${name}.pem`), made.chain);
      writeFileSync(file(`${name}.key`), made.key);
      return made;
    };
    const alice = stored('alice', makeCertificate({ subject: 'CN=alice', issuer: middle }));
    stored('bob', makeCertificate({ subject: 'CN=bob', issuer: middle }));

    const curl = (...words: string[]): Promise<Answer> =>
      new Promise((resolve, reject) => {
        execFile('curl', ['--silent', '--cacert', file('root.pem'), '--request', 'POST', ...words], (error, stdout) => {
          if (error) reject(error);
          else resolve((stdout === '' ? {} : JSON.parse(stdout)) as Answer);
        });
      });
    const as = (name: string): string[] => ['--cert', file(`${name}.pem`), '--key', file(`${name}.key`)];
    const tls = (path: string): string => `${server.addresses[0]!}/v1/${path}`;
    const proxied = (path: string): string => `${server.addresses[1]!}/v1/${path}`;

    beforeAll(async () => {
      stored('root', root);
      stored(
        'server',
        makeCertificate({ subject: 'CN=localhost', issuer: root, names: ['IP:127.0.0.1'], extendedKeyUsage: ['1.3.6.1.5.5.7.3.1'] }),
      );
      const text = `
      listener "tcp" { address = "127.0.0.1:0", tls_cert_file = "${file('server.pem')}", tls_key_file = "${file('server.key')}" }
      listener "tcp" {
        address = "127.0.0.1:0"
        tls_disable = true
        x_forwarded_for_authorized_addrs = ["127.0.0.1"]
        x_forwarded_for_client_cert_header = "Client-Cert"
        x_forwarded_for_client_cert_decoders = "RFC9440"
      }`;
      writeFileSync(file('server.hcl'), `log_level = "error"\n${text}`);
      const configuration = await readConfiguration([file('server.hcl')], { env: {}, dev: true });
      server = await startServer({ configuration, devRootToken: 'root' });
      const write = async (path: string, data: unknown): Promise<void> => {
        expect(await curl('--header', 'X-Vault-Token: root', '--data', JSON.stringify(data), tls(path))).toEqual({});
      };
      await write('sys/auth/cert', { type: 'cert' });
      await write('auth/cert/certs/web', { certificate: root.pem, allowed_common_names: 'alice', token_policies: 'web' });
    });
    afterAll(async () => {
      await server?.stop();
      rmSync(folder, { recursive: true });
    });

    test('log in and renew over TLS, with the intermediates that they send, on each connection again', async () => {
      const { auth } = await curl(...as('alice'), tls('auth/cert/login'));
      expect(auth!.policies).toEqual(['default', 'web']);
      const renew = ['--header', `X-Vault-Token: ${auth!.client_token}`, tls('auth/token/renew-self')];
      expect((await curl(...as('alice'), ...renew)).auth).toBeDefined();
      expect((await curl(...as('bob'), ...renew)).errors).toEqual([expect.stringContaining('client identity during renewal not matching')]);
      expect((await curl(...renew)).errors).toEqual(['no client certificate found']);
    });

    test('are refused without one, and with one that does not fit', async () => {
      expect(await curl(tls('auth/cert/login'))).toEqual({ errors: ['no client certificate found'] });
      expect(await curl(...as('bob'), tls('auth/cert/login'))).toEqual({
        errors: ['no chain matching all constraints could be found for this login certificate'],
      });
    });

    test('log in behind a proxy that passes the certificate on; the role has the intermediate', async () => {
      const header = ['--header', `Client-Cert: :${alice.der.toString('base64')}:`];
      const forwarded = ['--header', 'X-Forwarded-For: 203.0.113.7'];
      const untrusted = { errors: ['invalid certificate or no client certificate supplied'] };
      expect(await curl(...header, ...forwarded, proxied('auth/cert/login'))).toEqual(untrusted);
      const data = JSON.stringify({ certificate: root.pem + middle.pem });
      await curl('--header', 'X-Vault-Token: root', '--data', data, tls('auth/cert/certs/web'));
      expect((await curl(...header, ...forwarded, proxied('auth/cert/login'))).auth!.policies).toEqual(['default', 'web']);
      expect(await curl(...header, proxied('auth/cert/login'))).toEqual({ errors: ['no client certificate found'] });
      expect(await curl(...header, tls('auth/cert/login'))).toEqual({ errors: ['no client certificate found'] });
    });
  },
);
