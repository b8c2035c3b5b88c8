import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import nodeVault from 'node-vault';
import { startClientLab, type ClientLab } from './client-lab.ts';

const program = process.env['STRONGROOM_GO_AUTH'];
const python = process.env['STRONGROOM_PYTHON'];
const withGo = program === undefined ? test.skip : test;
const withPython = python === undefined ? test.skip : test;
const noGo = program === undefined ? ' (skipped: npm test builds the program, where Go and its modules can be had)' : '';
const noPython = python === undefined ? ' (skipped: hvac is not installed; npm test installs it)' : '';

describe('clients in other languages, unchanged', () => {
  let lab: ClientLab;
  beforeAll(async () => (lab = await startClientLab()), 60_000);
  afterAll(async () => lab?.stop());

  const run = (file: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<string> =>
    new Promise((resolve, reject) => {
      execFile(
        file,
        words,
        { env: { ...process.env, VAULT_ADDR: lab.address, VAULT_MAX_RETRIES: '0', ...env } },
        (error, stdout, stderr) => {
          if (error) reject(new Error(`${stdout}\n${stderr}`));
          else resolve(stdout);
        },
      );
    });

  withGo(
    `the helpers of the Go API module log in by AppRole, userpass and Kubernetes${noGo}`,
    async () => {
      const { approle, userpass, kubernetes } = lab;
      const output = await run(program!, [], {
        ROLE_ID: approle.roleId,
        SECRET_ID: approle.secretId,
        WRAPPED_SECRET_ID: approle.wrappedSecretId,
        USER_NAME: userpass.username,
        USER_PASSWORD: userpass.password,
        KUBERNETES_ROLE: kubernetes.role,
        SERVICE_ACCOUNT_TOKEN: kubernetes.tokenFile,
      });
      expect(output).toContain('the Go module walked');
    },
    60_000,
  );

  withPython(
    `hvac configures AppRole, userpass, JWT and Kubernetes, and logs in${noPython}`,
    async () => {
      const { jwt, kubernetes } = lab;
      const words = [fileURLToPath(new URL('./hvac_logins.py', import.meta.url))];
      const output = await run(python!, words, {
        VAULT_TOKEN: 'root',
        LAB: JSON.stringify({ jwt: { token: jwt.token, public_key: jwt.publicKey }, kubernetes }),
      });
      expect(output).toContain('hvac logged in');
    },
    60_000,
  );

  describe('node-vault', () => {
    const logins: Readonly<Record<string, (client: nodeVault.client) => Promise<void>>> = {
      AppRole: async (client) => void (await client.approleLogin({ role_id: lab.approle.roleId, secret_id: lab.approle.secretId })),
      userpass: async (client) => void (await client.userpassLogin(lab.userpass)),
      JWT: async (client) => void (await client['jwtLogin']({ role: lab.jwt.role, jwt: lab.jwt.token })),
      Kubernetes: async (client) =>
        void (await client.kubernetesLogin({ mount_point: 'kubernetes', role: lab.kubernetes.role, jwt: lab.kubernetes.token })),
    };
    for (const [name, login] of Object.entries(logins)) {
      test(`logs in by ${name}, reads a secret, renews its token and revokes it`, async () => {
        const client = nodeVault({ endpoint: lab.address });
        await login(client);
        const { data } = (await client.read('secret/data/app')) as { data: { data: unknown } };
        expect(data.data).toEqual({ a: '1' });
        await expect(client.write('secret/data/app', { data: { a: '2' } })).rejects.toThrow('permission denied');
        const renewed = (await client.tokenRenewSelf()) as { auth: { lease_duration: number } };
        expect(renewed.auth.lease_duration).toBe(3_600);
        await client.tokenRevokeSelf();
        await expect(client.tokenLookupSelf()).rejects.toMatchObject({ response: { statusCode: 403 } });
      });
    }

    test('configures roles of AppRole, and logs in with what it gets', async () => {
      const root = nodeVault({ endpoint: lab.address, token: 'root' });
      await root.enableAuth({ mount_point: 'approle-js', type: 'approle' });
      const of = { mount_point: 'approle-js', role_name: 'Job' };
      await root.addApproleRole({ ...of, token_policies: 'reader', secret_id_num_uses: 1 } as never);
      const { role_id } = ((await root.getApproleRoleId(of)) as { data: { role_id: string } }).data;
      const { secret_id } = ((await root.getApproleRoleSecret(of)) as { data: { secret_id: string } }).data;
      const client = nodeVault({ endpoint: lab.address });
      await client.approleLogin({ mount_point: 'approle-js', role_id, secret_id });
      const again = nodeVault({ endpoint: lab.address }).approleLogin({ mount_point: 'approle-js', role_id, secret_id });
      await expect(again).rejects.toMatchObject({ response: { statusCode: 400 } });
    });
  });
});
