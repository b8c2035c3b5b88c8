import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { cliLab } from './fake-server.ts';
import { envelope, sealStatus } from './fixtures/answers.ts';

const lab = cliLab();
const sealed = { ...sealStatus, sealed: true, t: 3, n: 5, progress: 1, nonce: 'n-1' };
const leader = {
  ha_enabled: true,
  is_self: true,
  active_time: '2026-11-21T09:14:34.78Z',
  leader_address: lab.url,
  leader_cluster_address: 'https://10.0.0.1:8201',
};
const disabled = { status: 405, body: { errors: ['unsupported operation'] } };

describe('status', () => {
  test('prints the state and exits 0 when unsealed', async () => {
    lab.routes['GET sys/seal-status'] = { body: sealStatus };
    lab.routes['GET sys/leader'] = { body: leader };
    const { code, stdout } = await lab.run(['status']);
    expect(code).toBe(0);
    expect(stdout).toContain(
      'Seal Type       shamir\nInitialized     true\nSealed          false\nTotal Shares    1\nThreshold       1\nVersion         0.1.0\n',
    );
    expect(stdout).toContain(
      'HA Cluster      https://10.0.0.1:8201\nHA Mode         active\nActive Since    2026-11-21 09:14:34.78 +0000 UTC\n',
    );
  });

  test('prints the progress and exits 2 when sealed, even if the leader is not told', async () => {
    lab.routes['GET sys/seal-status'] = { body: sealed };
    lab.routes['GET sys/leader'] = { status: 503, body: { errors: ['Vault is sealed'] } };
    const { code, stdout } = await lab.run(['status']);
    expect(code).toBe(2);
    expect(stdout).toContain('Unseal Progress    1/3\nUnseal Nonce       n-1\n');
  });

  test('says how many workers run, where the server has several', async () => {
    lab.routes['GET sys/leader'] = { body: leader };
    lab.routes['GET sys/seal-status'] = { body: { ...sealStatus, workers: { running: 2, configured: 3 } } };
    expect((await lab.run(['status'])).stdout).toMatch(/^Workers +2 of 3$/m);
    lab.routes['GET sys/seal-status'] = { body: sealStatus };
    expect((await lab.run(['status'])).stdout).not.toContain('Workers');
  });

  test('exits 1 when the server cannot be asked', async () => {
    expect(await lab.run(['status'], { env: { STRONGROOM_ADDR: 'http://127.0.0.1:1' } })).toMatchObject({ code: 1 });
    lab.routes['GET sys/seal-status'] = { status: 400, body: { errors: ['no'] } };
    expect(await lab.run(['status'])).toMatchObject({ code: 1 });
  });

  test('as JSON is one object', async () => {
    lab.routes['GET sys/seal-status'] = { body: sealed };
    lab.routes['GET sys/leader'] = { body: { ha_enabled: false } };
    const { code, stdout } = await lab.run(['status', '-format=json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({ ...sealed, ha_enabled: false });
    expect((await lab.run(['status', '-field=sealed'])).stdout).toBe('true');
  });
});

describe('operator init', () => {
  const answer = { keys: ['aa', 'bb'], keys_base64: ['qg==', 'uw=='], root_token: 's.ROOT' };

  test('asks for five shares of which three unseal, and prints what it gets', async () => {
    lab.routes['GET sys/seal-status'] = { body: { ...sealStatus, initialized: false } };
    lab.routes['PUT sys/init'] = { body: answer };
    const { code, stdout } = await lab.run(['operator', 'init']);
    expect(code).toBe(0);
    expect(lab.seen.at(-1)?.body).toEqual({ secret_shares: 5, secret_threshold: 3 });
    expect(stdout).toMatch(/^Unseal Key 1: qg==\nUnseal Key 2: uw==\n\nInitial Root Token: s\.ROOT\n/);
  });

  test('takes the numbers under both of their names, and prints JSON', async () => {
    lab.routes['GET sys/seal-status'] = { body: sealStatus };
    lab.routes['PUT sys/init'] = { body: answer };
    const { stdout } = await lab.run(['operator', 'init', '-n', '1', '-key-threshold=1', '-format=json']);
    expect(lab.seen.at(-1)?.body).toEqual({ secret_shares: 1, secret_threshold: 1 });
    expect(JSON.parse(stdout)).toMatchObject({
      unseal_keys_b64: ['qg==', 'uw=='],
      unseal_keys_hex: ['aa', 'bb'],
      unseal_shares: 1,
      root_token: 's.ROOT',
    });
  });

  test('asks for recovery keys where the seal keeps the key itself', async () => {
    lab.routes['GET sys/seal-status'] = { body: { ...sealStatus, recovery_seal: true } };
    lab.routes['PUT sys/init'] = { body: { keys: [], keys_base64: [], recovery_keys_base64: ['cc=='], root_token: 's.ROOT' } };
    expect((await lab.run(['operator', 'init', '-recovery-shares=1', '-recovery-threshold=1'])).stdout).toContain('Recovery Key 1: cc==');
    expect(lab.seen.at(-1)?.body).toEqual({ recovery_shares: 1, recovery_threshold: 1 });
    lab.routes['PUT sys/init'] = { body: { keys: [], keys_base64: [], root_token: 's.ROOT' } };
    expect((await lab.run(['operator', 'init', '-recovery-shares=0'])).stdout).toContain('has no recovery keys yet');
    expect(lab.seen.at(-1)?.body).toEqual({ recovery_shares: 0, recovery_threshold: 0 });
    for (const flag of ['-key-shares=1', '-pgp-keys=a.asc']) {
      expect((await lab.run(['operator', 'init', flag])).stderr).toContain('give -recovery-shares');
    }
  });

  test('sends public keys from files, armored or not', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-cli-pgp-'));
    try {
      await writeFile(
        join(folder, 'a.asc'),
        '-----BEGIN PGP PUBLIC KEY BLOCK-----\nVersion: x\n\nAAEC\nAwQF\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n',
      );
      await writeFile(join(folder, 'b.gpg'), Buffer.from([0, 1, 2, 200]));
      lab.routes['GET sys/seal-status'] = { body: sealStatus };
      lab.routes['PUT sys/init'] = { body: answer };
      await lab.run(['operator', 'init', '-n=2', '-t=2', `-pgp-keys=${folder}/a.asc,${folder}/b.gpg`]);
      expect(lab.seen.at(-1)?.body).toMatchObject({ pgp_keys: ['AAECAwQF', 'AAECyA=='] });
      expect((await lab.run(['operator', 'init', '-pgp-keys=keybase:someone'])).stderr).toContain('keys are read from files only');
      await writeFile(join(folder, 'c.b64'), (await readFile(join(folder, 'a.asc'))).toString('base64'));
      await writeFile(join(folder, 'd.asc'), '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nAAEC\n-----END PGP PRIVATE KEY BLOCK-----\n');
      await writeFile(join(folder, 'e.gpg'), '');
      await lab.run(['operator', 'init', '-n=1', '-t=1', `-pgp-keys=@${folder}/c.b64`]);
      expect(lab.seen.at(-1)?.body).toMatchObject({ pgp_keys: ['AAECAwQF'] });
      const sent = lab.seen.length;
      for (const [file, text] of [
        ['d.asc', 'holds a private key'],
        ['e.gpg', 'is empty'],
        ['f.gpg', 'ENOENT'],
      ] as const) {
        expect((await lab.run(['operator', 'init', `-root-token-pgp-key=${folder}/${file}`])).stderr).toContain(text);
      }
      expect((await lab.run(['operator', 'init', `-recovery-pgp-keys=${folder}/a.asc`])).stderr).toContain('give -key-shares');
      expect(lab.seen.slice(sent).filter(({ path }) => path === 'sys/init')).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('-status answers by exit code', async () => {
    lab.routes['GET sys/init'] = [{ body: { initialized: true } }, { body: { initialized: false } }];
    expect(await lab.run(['operator', 'init', '-status'])).toMatchObject({ code: 0, stdout: 'The server is initialized\n' });
    expect(await lab.run(['operator', 'init', '-status'])).toMatchObject({ code: 2 });
  });
});

describe('operator unseal, seal and step-down', () => {
  test('unseal takes the key as a word, from standard input, or by asking', async () => {
    lab.routes['PUT sys/unseal'] = { body: sealed };
    lab.routes['GET sys/leader'] = { body: { ha_enabled: false } };
    const sent = () => lab.seen.filter(({ method }) => method === 'PUT').at(-1)?.body;
    expect((await lab.run(['operator', 'unseal', 'KEY1'])).stdout).toContain('Unseal Progress    1/3');
    expect(sent()).toEqual({ key: 'KEY1', migrate: false });
    await lab.run(['operator', 'unseal', '-'], { stdin: 'KEY2\n' });
    expect(sent()).toEqual({ key: 'KEY2', migrate: false });
    const asked = await lab.run(['operator', 'unseal'], { stdin: 'KEY3\n', isTty: true });
    expect(sent()).toEqual({ key: 'KEY3', migrate: false });
    expect(asked.stdout + asked.stderr).not.toContain('KEY3');
    await lab.run(['operator', 'unseal', '-reset']);
    expect(sent()).toEqual({ reset: true });
    expect((await lab.run(['operator', 'unseal'])).stderr).toContain('The key share is missing');
  });

  test('seal and step-down confirm', async () => {
    lab.routes['PUT sys/seal'] = {};
    lab.routes['PUT sys/step-down'] = {};
    expect((await lab.run(['operator', 'seal'])).stdout).toBe('Success! Strongroom is sealed.\n');
    expect((await lab.run(['operator', 'step-down'])).stdout).toBe(`Success! Stepped down: ${lab.url}\n`);
  });
});

describe('operator keys', () => {
  const status = { body: envelope({ data: { term: 2, install_time: '2026-11-21T09:14:34Z', encryptions: 71 } }) };
  const shown = 'Key Term            2\nInstall Time        2026-11-21 09:14:34 +0000 UTC\nEncryption Count    71\n';

  test('rotate makes a new key and prints its state', async () => {
    lab.routes['POST sys/rotate/keyring'] = {};
    lab.routes['GET sys/key-status'] = status;
    expect((await lab.run(['operator', 'rotate'])).stdout).toBe(`Success! Rotated key\n\n${shown}`);
    expect((await lab.run(['operator', 'key-status'])).stdout).toBe(shown);
  });

  test('rotate falls back to the older path', async () => {
    lab.routes['PUT sys/rotate'] = {};
    lab.routes['GET sys/key-status'] = status;
    expect(await lab.run(['operator', 'rotate'])).toMatchObject({ code: 0 });
  });

  test('members prints the nodes', async () => {
    const nodes = [
      { hostname: 'a', api_address: 'http://a', cluster_address: 'https://a', active_node: true, version: '0.1.0', last_echo: null },
    ];
    lab.routes['GET sys/ha-status'] = { body: envelope({ data: { nodes } }) };
    const { stdout } = await lab.run(['operator', 'members']);
    expect(stdout).toContain('Host Name    API Address    Cluster Address    Active Node    Version    Last Echo\n');
    expect(stdout).toContain('a            http://a       https://a          true           0.1.0      n/a\n');
  });
});

describe('operator rekey', () => {
  const state = { started: true, nonce: 'n-1', t: 2, n: 3, progress: 0, required: 3, verification_required: false };

  test('uses the endpoints that need a token, and the older ones where those are missing', async () => {
    lab.routes['GET sys/rotate/root/init'] = { body: envelope({ data: { ...state, started: false } }) };
    lab.routes['PUT sys/rotate/root/init'] = { body: envelope({ data: state }) };
    const { stdout } = await lab.run(['operator', 'rekey', '-init', '-key-shares=3', '-key-threshold=2']);
    expect(stdout).toContain(
      'Nonce                    n-1\nStarted                  true\nRekey Progress           0/3\nNew Shares               3\n',
    );
    expect(lab.seen.at(-1)?.body).toEqual({ secret_shares: 3, secret_threshold: 2, backup: false, require_verification: false });

    lab.routes['GET sys/rotate/root/init'] = disabled;
    lab.routes['GET sys/rekey/init'] = { body: state };
    expect(await lab.run(['operator', 'rekey', '-status'])).toMatchObject({ code: 0 });
    expect(lab.seen.at(-1)?.path).toBe('sys/rekey/init');
  });

  test('hands over a share with the nonce, and prints the new shares at the end', async () => {
    lab.routes['GET sys/rotate/root/init'] = { body: envelope({ data: state }) };
    lab.routes['PUT sys/rotate/root/update'] = [
      { body: envelope({ data: { ...state, progress: 1 } }) },
      { body: envelope({ data: { complete: true, nonce: 'n-1', keys: ['aa'], keys_base64: ['qg=='], verification_required: false } }) },
    ];
    expect((await lab.run(['operator', 'rotate-keys', 'OLD1'])).stdout).toContain('Rekey Progress           1/3');
    expect(lab.seen.at(-1)?.body).toEqual({ key: 'OLD1', nonce: 'n-1' });
    expect((await lab.run(['operator', 'rekey', '-nonce=other', 'OLD2'])).stdout).toContain('Key 1: qg==\n');
    expect(lab.seen.at(-1)?.body).toEqual({ key: 'OLD2', nonce: 'other' });
  });

  test('says how to start when nothing is in progress, and cancels', async () => {
    lab.routes['GET sys/rotate/root/init'] = { body: envelope({ data: { started: false, t: 0, n: 0 } }) };
    lab.routes['DELETE sys/rotate/root/init'] = {};
    expect((await lab.run(['operator', 'rekey', 'OLD'])).stderr).toContain('operator rekey -init');
    expect((await lab.run(['operator', 'rekey', '-cancel'])).stdout).toContain('Canceled rekeying');
  });

  test('reads and removes the backup where the server keeps it', async () => {
    lab.routes['GET sys/rotate/recovery/init'] = disabled;
    lab.routes['GET sys/rekey/recovery-key-backup'] = { body: envelope({ data: { nonce: 'n', keys: { f: ['k'] } } }) };
    lab.routes['DELETE sys/rotate/root/backup'] = {};
    lab.routes['GET sys/rotate/root/init'] = { body: envelope({ data: state }) };
    expect((await lab.run(['operator', 'rekey', '-target=recovery', '-backup-retrieve'])).stdout).toMatch(/^keys\.f +\[k\]$/m);
    expect(await lab.run(['operator', 'rekey', '-backup-delete'])).toMatchObject({ code: 0 });
  });
});

describe('operator generate-root', () => {
  const state = { started: true, nonce: 'n-1', progress: 0, required: 1, complete: false, otp: '', otp_length: 26 };

  test('starts, takes a share, and decodes the result', async () => {
    lab.routes['GET sys/generate-root-token/attempt'] = { body: envelope({ data: state }) };
    lab.routes['PUT sys/generate-root-token/attempt'] = { body: envelope({ data: { ...state, otp: 'PAD' } }) };
    const token = 's.ROOTTOKEN';
    const otp = 'abcdefghijk';
    const encoded = Buffer.from([...token].map((letter, index) => letter.charCodeAt(0) ^ otp.charCodeAt(index)))
      .toString('base64')
      .replace(/=+$/, '');
    lab.routes['PUT sys/generate-root-token/update'] = {
      body: envelope({ data: { ...state, progress: 1, complete: true, encoded_token: encoded } }),
    };
    expect((await lab.run(['operator', 'generate-root', '-init'])).stdout).toContain('OTP           PAD');
    expect((await lab.run(['operator', 'generate-root', 'KEY'])).stdout).toContain(`Encoded Token    ${encoded}`);
    expect(lab.seen.at(-1)?.body).toEqual({ key: 'KEY', nonce: 'n-1' });
    expect((await lab.run(['operator', 'generate-root', `-decode=${encoded}`, `-otp=${otp}`])).stdout).toBe(`${token}\n`);
    expect(await lab.run(['operator', 'generate-root', `-decode=${encoded}`, '-otp=short'])).toMatchObject({ code: 1 });
    expect(await lab.run(['operator', 'generate-root', `-decode=${encoded}`])).toMatchObject({ code: 1 });
  });

  test('cancels with the nonce that it is given, and leaves it to the token without one', async () => {
    lab.routes['GET sys/generate-root-token/attempt'] = { body: envelope({ data: state }) };
    lab.routes['DELETE sys/generate-root-token/attempt?nonce=n-1'] = {};
    expect(await lab.run(['operator', 'generate-root', '-cancel', '-nonce=n-1'])).toMatchObject({ code: 0 });
    lab.routes['DELETE sys/generate-root-token/attempt'] = {};
    expect(await lab.run(['operator', 'generate-root', '-cancel'])).toMatchObject({ code: 0 });
    expect(lab.seen.at(-1)?.path).toBe('sys/generate-root-token/attempt');
  });

  test('asks for the nonce where the server does not show it', async () => {
    lab.routes['GET sys/generate-root-token/attempt'] = { body: envelope({ data: { ...state, nonce: '' } }) };
    const refused = await lab.run(['operator', 'generate-root', 'KEY']);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain('The nonce is missing: give -nonce=<string>');
  });

  test('falls back to the older endpoints', async () => {
    lab.routes['GET sys/generate-root/attempt'] = { body: state };
    expect((await lab.run(['operator', 'generate-root', '-status'])).stdout).toContain('Progress      0/1');
    expect(lab.seen.at(-1)?.path).toBe('sys/generate-root/attempt');
  });

  test('makes one-time passwords of the length that the server wants, never twice the same', async () => {
    lab.routes['GET sys/generate-root-token/attempt'] = { body: envelope({ data: state }) };
    const one = (await lab.run(['operator', 'generate-root', '-generate-otp'])).stdout;
    expect(one).toMatch(/^[0-9A-Za-z]{26}\n$/);
    expect((await lab.run(['operator', 'generate-root', '-generate-otp'])).stdout).not.toBe(one);
  });
});
