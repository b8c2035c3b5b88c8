import { describe, expect, test } from '@jest/globals';
import { freePort, startServer } from '../src/server-process.ts';
import { hvacMissing, runPython } from './hvac.ts';

const suite = hvacMissing === undefined ? describe : describe.skip;

suite(`hvac, the Python client, unchanged${hvacMissing === undefined ? '' : ` (skipped: ${hvacMissing})`}`, () => {
  test('logs programs in: roles, secret ids, wrapped delivery, renewal', async () => {
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    const server = await startServer(['-dev', '-dev-root-token-id=root', `-dev-listen-address=127.0.0.1:${port}`], address);
    try {
      expect(await runPython('hvac_approle.py', { VAULT_ADDR: address, VAULT_TOKEN: 'root' })).toContain('hvac logged programs in');
    } finally {
      await server.stop();
    }
  }, 120_000);
});
