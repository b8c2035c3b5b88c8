import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addOpenidProvider, startOidcIssuer, visitProvider, type OidcIssuer, type OpenidProvider } from '@strongroom/lab';
import { command, freePort, startServer, type ServerProcess } from '../src/server-process.ts';

/** A run of the command line, and what it printed. */
interface Running {
  readonly child: ChildProcess;
  /** Waits until it printed the address of a page, and returns that. */
  address(): Promise<string>;
  ended(): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

describe('the built command line logs in at a provider', () => {
  let issuer: OidcIssuer;
  let provider: OpenidProvider;
  let server: ServerProcess;
  let home: string;
  beforeAll(async () => {
    issuer = await startOidcIssuer();
    provider = addOpenidProvider(issuer);
    home = await mkdtemp(join(tmpdir(), 'strongroom-oidc-'));
    const port = await freePort();
    server = await startServer(['-dev', '-dev-root-token-id=root', `-dev-listen-address=127.0.0.1:${port}`], `http://127.0.0.1:${port}`, {
      cwd: home,
    });
    await run('auth', 'enable', 'oidc');
    await run(
      ...['write', 'auth/oidc/config', `oidc_discovery_url=${issuer.url}`, 'default_role=web'],
      ...['oidc_client_id=lab-client', 'oidc_client_secret=lab-secret'],
    );
    const role = ['user_claim=email', 'token_policies=web', 'poll_interval=1'];
    const direct = `${server.address}/v1/auth/oidc/oidc/callback`;
    await run('write', 'auth/oidc/role/web', ...role, 'allowed_redirect_uris=http://localhost:8250/oidc/callback');
    await run('write', 'auth/oidc/role/direct', ...role, `allowed_redirect_uris=${direct}`, 'callback_mode=direct');
    await run('write', 'auth/oidc/role/device', ...role, 'callback_mode=device');
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    await issuer?.stop();
    await rm(home, { recursive: true, force: true });
  });

  function start(words: readonly string[], token: string | undefined): Running {
    const env = { PATH: process.env['PATH'], HOME: home, STRONGROOM_ADDR: server.address, ...(token ? { STRONGROOM_TOKEN: token } : {}) };
    const child = spawn(process.execPath, [command, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const address = new Promise<string>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
        const found = /^ {4}(http\S+)$/m.exec(stderr)?.[1];
        if (found !== undefined && stderr.includes('Waiting')) resolve(found);
      });
      void ended.then(() => reject(new Error(`it ended without an address: ${stderr}`)));
    });
    address.catch(() => undefined);
    return { child, address: async () => address, ended: async () => ({ code: await ended, stdout, stderr }) };
  }

  async function run(...words: string[]): Promise<void> {
    const { code, stderr } = await start(words, 'root').ended();
    if (code !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
  }

  const login = (...words: string[]): Running => start(['login', '-method=oidc', ...words, 'skip_browser=true'], undefined);

  test('with its own listener, and stores the token', async () => {
    const running = login('port=0');
    const { url } = await visitProvider(await running.address());
    const page = await fetch(url);
    expect({ status: page.status, text: await page.text() }).toEqual({ status: 200, text: expect.stringContaining('Signed in') });
    const { code, stdout } = await running.ended();
    expect(code).toBe(0);
    expect(stdout).toContain('Success! You are now authenticated.');
    expect(stdout).toMatch(/token_policies +\["default" "web"\]/);
    const token = await readFile(join(home, '.vault-token'), 'utf8');
    const own = await fetch(`${server.address}/v1/auth/token/lookup-self`, { headers: { 'X-Vault-Token': token } });
    expect(await own.json()).toMatchObject({ data: { display_name: 'oidc-alice@example.org', path: 'auth/oidc/oidc/callback' } });
  }, 60_000);

  test('shows in the browser why it failed, and fails', async () => {
    const running = login('port=0', '-no-store');
    provider.person.consents = false;
    const { url } = await visitProvider(await running.address());
    provider.person.consents = true;
    expect(await (await fetch(url)).text()).toContain('<h1>Strongroom login failed.</h1>\n<p>access_denied</p>');
    expect(await running.ended()).toMatchObject({ code: 2, stderr: expect.stringContaining('* Strongroom login failed. access_denied') });
  }, 60_000);

  test('ends at Ctrl-C', async () => {
    const running = login('port=0', '-no-store');
    await running.address();
    running.child.kill('SIGINT');
    expect(await running.ended()).toMatchObject({ code: 1, stderr: expect.stringContaining('Interrupted') });
  }, 60_000);

  test('in the mode direct, after the person has confirmed in the browser', async () => {
    const running = login('-token-only', 'role=direct', 'callbackmode=direct');
    const { url } = await visitProvider(await running.address());
    const question = await (await fetch(url)).text();
    expect(question).toContain('Did you start this login?');
    const fields = [...question.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']): [string, string] => [
      name,
      value,
    ]);
    url.search = new URLSearchParams(fields).toString();
    expect(await (await fetch(url)).text()).toContain('Signed in');
    expect(await running.ended()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^s\.\w+$/) });
  }, 60_000);

  test('in the mode device, after the person has agreed elsewhere', async () => {
    const running = login('-token-only', 'role=device', 'callbackmode=device');
    expect(await running.address()).toBe(`${issuer.url}/activate`);
    provider.approveDevices();
    const { code, stdout, stderr } = await running.ended();
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^s\.\w+$/) });
    expect(stderr).toMatch(/When asked for a code, type or confirm: \w{4}-\w{4}/);
  }, 60_000);
});
