import { describe, expect, test } from '@jest/globals';
import { slapdMissing, startPostgres, startSlapd } from '@strongroom/lab';
import { freePort, startServer } from '../src/server-process.ts';
import { hvacMissing, runPython } from './hvac.ts';

const missing = hvacMissing ?? slapdMissing;
const suite = missing === undefined ? describe : describe.skip;

suite(`hvac, the Python client, unchanged${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  test('does the walk: mounts, policies, directory login, secrets, a database user, leases, tokens', async () => {
    const slapd = await startSlapd();
    const postgres = await startPostgres();
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    const server = await startServer(['-dev', '-dev-root-token-id=root', `-dev-listen-address=127.0.0.1:${port}`], address);
    try {
      const lab = {
        ldap: {
          url: slapd.url,
          bind_dn: slapd.adminDn,
          bind_pass: slapd.adminPassword,
          user_dn: 'ou=people,dc=example,dc=org',
          group_dn: 'ou=groups,dc=example,dc=org',
          group: 'eng',
          user: 'user55',
          password: 'pw55',
        },
        postgres: {
          connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${postgres.port}/postgres?sslmode=disable`,
          username: postgres.superuser,
          password: postgres.password,
        },
      };
      const output = await runPython('hvac_walk.py', {
        VAULT_ADDR: address,
        VAULT_TOKEN: 'root',
        LAB: JSON.stringify(lab),
      });
      expect(output).toContain('hvac walked');
    } finally {
      await server.stop();
      await postgres.stop();
      await slapd.stop();
    }
  }, 120_000);
});
