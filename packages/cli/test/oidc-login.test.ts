import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { cliLab, type RunOptions } from './fake-server.ts';
import { login } from './fixtures/answers.ts';

const lab = cliLab();
const forever = (): Promise<void> => new Promise(() => undefined);
const begun = (data: object) => ({ body: { data } });
const query = (path: string) => new URLSearchParams(path.slice(path.indexOf('?')));

/** A person at a provider that sends the browser back to the redirect_uri with these fields. */
function person(fields: Record<string, string>, shown: Promise<string>[] = [], post = false): Pick<RunOptions, 'sleep' | 'openBrowser'> {
  return {
    sleep: forever,
    openBrowser: async (url) => {
      const back = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
      const sent = new URLSearchParams(fields);
      const visit = post ? fetch(back, { method: 'POST', body: sent }) : fetch(`${back.href}?${sent}`);
      shown.push(visit.then(async (page) => `${page.status} ${page.headers.get('content-security-policy')} ${await page.text()}`));
    },
  };
}

function provider(state = 'st_1') {
  lab.routes['PUT auth/oidc/oidc/auth_url'] = ({ body }) => {
    const { redirect_uri: back } = body as { redirect_uri: string };
    return begun({ auth_url: `https://idp.example/authorize?state=${state}&redirect_uri=${encodeURIComponent(back)}` });
  };
}

describe('login with a browser', () => {
  test('listens for the answer of the provider and passes it on with the nonce of this login', async () => {
    provider();
    lab.routes['GET auth/oidc/oidc/callback?*'] = { body: login };
    const shown: Promise<string>[] = [];
    const run = await lab.run(
      ['login', '-method=oidc', '-token-only', 'role=web', 'port=0'],
      person({ state: 'st_1', code: 'c&1', session_state: 'x' }, shown),
    );
    expect(run).toMatchObject({ code: 0, stdout: 's.LOGINTOKEN' });
    expect(run.stderr).toContain('https://idp.example/authorize?state=st_1');
    const [asked, back] = lab.seen;
    expect(asked?.headers).not.toHaveProperty('x-vault-token');
    expect(asked?.body).toMatchObject({ role: 'web', redirect_uri: expect.stringMatching(/^http:\/\/localhost:\d+\/oidc\/callback$/) });
    const { client_nonce: nonce } = asked!.body as { client_nonce: string };
    expect(nonce.length).toBeGreaterThanOrEqual(20);
    expect([...query(back?.path ?? '')]).toEqual([
      ['state', 'st_1'],
      ['code', 'c&1'],
      ['client_nonce', nonce],
    ]);
    expect(await shown[0]).toMatch(/^200 default-src 'none'.*Signed in/s);
  });

  test('refuses a callback of another login and goes on waiting', async () => {
    provider();
    lab.routes['GET auth/oidc/oidc/callback?*'] = { body: login };
    const shown: string[] = [];
    const run = await lab.run(['login', '-method=oidc', '-token-only', 'port=0'], {
      sleep: forever,
      openBrowser: async (url) => {
        const back = new URL(url).searchParams.get('redirect_uri');
        for (const state of ['st_other', 'st_1']) shown.push(await (await fetch(`${back}?state=${state}&code=c`)).text());
      },
    });
    expect(run.code).toBe(0);
    expect(shown[0]).toContain('not the login that the command line waits for');
    expect(lab.seen).toHaveLength(2);
  });

  test('goes on waiting whatever else asks at its port', async () => {
    provider();
    lab.routes['GET auth/oidc/oidc/callback?*'] = { body: login };
    const shown: string[] = [];
    const run = await lab.run(['login', '-method=oidc', '-token-only', 'port=0'], {
      sleep: forever,
      openBrowser: async (url) => {
        const back = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
        for (const path of ['//', '/\\\\', 'http://[', '*']) {
          const asked = request({ host: back.hostname, port: back.port, path }).end();
          const [answer] = (await once(asked, 'response')) as [IncomingMessage];
          shown.push(String(answer.resume().statusCode));
        }
        void fetch(`${back.href}?state=st_1&code=c`);
      },
    });
    expect(run.code).toBe(0);
    expect(shown).toEqual(['404', '404', '404', '404']);
  });

  test('passes on as whom the provider answers', async () => {
    provider();
    lab.routes['GET auth/oidc/oidc/callback?*'] = { body: login };
    await lab.run(['login', '-method=oidc', '-token-only', 'port=0'], person({ state: 'st_1', code: 'c', iss: 'https://idp.example' }));
    expect(query(lab.seen[1]?.path ?? '').get('iss')).toBe('https://idp.example');
  });

  test('posts what a provider posted, then asks for the login', async () => {
    provider();
    lab.routes['POST auth/oidc/oidc/callback'] = { text: '<html>' };
    lab.routes['GET auth/oidc/oidc/callback?*'] = { body: login };
    const run = await lab.run(['login', '-method=oidc', '-token-only', 'port=0'], person({ state: 'st_1', id_token: 'jwt' }, [], true));
    expect(run.code).toBe(0);
    expect(lab.seen[1]).toMatchObject({ method: 'POST', body: { state: 'st_1', id_token: 'jwt' } });
    expect(query(lab.seen[2]?.path ?? '').get('code')).toBe('no_code');
    expect(lab.seen[2]?.path).not.toContain('jwt');
  });

  test('shows a refusal of the server in the browser, escaped, and fails', async () => {
    provider();
    lab.routes['GET auth/oidc/oidc/callback?*'] = { status: 400, body: { errors: ['Vault login failed. <script>alert(1)</script>'] } };
    const shown: Promise<string>[] = [];
    const run = await lab.run(['login', '-method=oidc', 'port=0'], person({ state: 'st_1', error: 'access_denied' }, shown));
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('* Vault login failed. <script>') });
    expect(query(lab.seen[1]?.path ?? '').get('error')).toBe('access_denied');
    expect(await shown[0]).toContain('<h1>Vault login failed.</h1>\n<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>');
  });

  test('splits the namespace off the state', async () => {
    provider('st_1,ns=team');
    lab.routes['GET auth/oidc/oidc/callback?*'] = { body: login };
    await lab.run(['login', '-method=oidc', '-token-only', 'port=0'], person({ state: 'st_1,ns=team', code: 'c' }));
    expect(query(lab.seen[1]?.path ?? '').get('state')).toBe('st_1');
  });

  test('ends after two minutes, and at Ctrl-C', async () => {
    provider();
    const words = ['login', '-method=oidc', 'port=0', 'skip_browser=true'];
    expect(await lab.run(words)).toMatchObject({ code: 2, stderr: expect.stringContaining('Timed out waiting') });
    expect(lab.pauses).toEqual([120_000]);
    const interrupted = await lab.run(words, { sleep: forever, onInterrupt: (end) => (end(), () => undefined) });
    expect(interrupted).toMatchObject({ code: 1, stderr: expect.stringContaining('Interrupted') });
  });

  test('says which address it may not use, and opens nothing that is no web page', async () => {
    lab.routes['PUT auth/oidc/oidc/auth_url'] = begun({ auth_url: '' });
    const refused = await lab.run(['login', '-method=oidc', 'role=web', 'port=0', 'callbackport=8250']);
    expect(refused.stderr).toContain('Unable to authorize role "web" with redirect_uri "http://localhost:8250/oidc/callback"');
    lab.routes['PUT auth/oidc/oidc/auth_url'] = begun({ auth_url: 'file:///etc/passwd' });
    expect((await lab.run(['login', '-method=oidc', 'port=0'])).stderr).toContain('an address that is no web page');
  });

  test('without a browser it prints the address and waits, or fails when asked to', async () => {
    provider();
    expect((await lab.run(['login', '-method=oidc', 'port=0'])).stderr).toContain('Open the address yourself.');
    expect(await lab.run(['login', '-method=oidc', 'port=0', 'abort_on_error=true'], { sleep: forever })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No browser could be opened'),
    });
    expect((await lab.run(['login', '-method=oidc', 'port=0', 'skip_browser=1', 'show_qr=true'])).stderr).toMatch(/█/);
  });

  test('names a port that is taken, and settings that are wrong', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, 'localhost', resolve));
    const { port } = taken.address() as { port: number };
    const said = async (...words: string[]) => (await lab.run(['login', '-method=oidc', ...words])).stderr;
    expect(await said(`port=${port}`)).toContain(`Cannot listen on localhost:${port}: EADDRINUSE; give another one with port=<int>`);
    await new Promise((resolve) => taken.close(resolve));
    expect(await said('rolle=web')).toContain('Unknown setting "rolle" of the oidc login. Did you mean "role"?');
    expect(await said('port=http')).toContain('port must be a number from 0 to 65535');
    expect(await said('skip_browser=maybe')).toContain('skip_browser must be true or false');
    expect(await said('callbackmode=server')).toContain('callbackmode must be one of client, direct, device');
    expect(lab.seen).toEqual([]);
  });
});

describe('login that the server completes', () => {
  const pending = (text: string) => ({ status: 400, body: { errors: [text] } });

  test('polls until it is complete, and more slowly when told to', async () => {
    lab.routes['PUT auth/corp/oidc/auth_url'] = begun({
      auth_url: 'https://idp.example/activate',
      state: 'st_1',
      poll_interval: '2',
      user_code: 'ABCD\u001b[2J-EFGH',
    });
    lab.routes['PUT auth/corp/oidc/poll'] = [pending('authorization_pending'), pending('x: slow_down'), { body: login }];
    const run = await lab.run(['login', '-method=oidc', '-path=corp', '-token-only', 'callbackmode=device', 'skip_browser=true']);
    expect(run).toMatchObject({ code: 0, stdout: 's.LOGINTOKEN' });
    expect(run.stderr).toContain('type or confirm: ABCD?[2J-EFGH');
    expect(lab.pauses).toEqual([2_000, 2_000, 4_000]);
    expect(lab.seen[1]?.body).toMatchObject({ state: 'st_1', client_nonce: (lab.seen[0]!.body as { client_nonce: string }).client_nonce });
  });

  test('in direct mode the provider answers the server', async () => {
    lab.routes['PUT auth/oidc/oidc/auth_url'] = begun({ auth_url: 'https://idp.example/a', state: 'st_1', poll_interval: '5' });
    lab.routes['PUT auth/oidc/oidc/poll'] = pending('authorization failed: access_denied');
    const run = await lab.run(['login', '-method=oidc', 'callbackmode=direct', 'skip_browser=true']);
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('authorization failed: access_denied') });
    expect(lab.seen[0]?.body).toMatchObject({ redirect_uri: `${lab.url}/v1/auth/oidc/oidc/callback` });
  });

  test('a role of another mode is named', async () => {
    provider();
    const run = await lab.run(['login', '-method=oidc', 'callbackmode=direct']);
    expect(run.stderr).toContain('The role does not use callbackmode=direct');
  });
});

describe('login of programs', () => {
  test('sends a role and a token from a file, without the end of its line', async () => {
    lab.routes['PUT auth/jwt/login'] = { body: login };
    await lab.run(['login', '-method=jwt', '-token-only', 'role=ci', 'jwt=-'], { stdin: 'a.b.c\n' });
    expect(lab.seen.at(-1)?.body).toEqual({ role: 'ci', jwt: 'a.b.c' });
  });

  test('asks for what is secret and absent', async () => {
    lab.routes['PUT auth/kubernetes/login'] = { body: login };
    const run = await lab.run(['login', '-method=kubernetes', '-token-only', 'role=web'], { stdin: 'a.b.c\r', isTty: true });
    expect(run).toMatchObject({ code: 0, stderr: 'JWT (will be hidden): \n' });
    expect(lab.seen.at(-1)?.body).toEqual({ role: 'web', jwt: 'a.b.c' });
    expect((await lab.run(['login', '-method=kubernetes', 'role=web'])).stderr).toContain('jwt is missing: give jwt=<string>, jwt=@file');
    lab.routes['PUT auth/approle/login'] = { body: login };
    await lab.run(['login', '-method=approle', '-token-only', 'role_id=r', 'secret_id=']);
    expect(lab.seen.at(-1)?.body).toEqual({ role_id: 'r', secret_id: '' });
  });

  test('with a certificate it needs one', async () => {
    expect((await lab.run(['login', '-method=cert'])).stderr).toContain('The client certificate is missing: give -client-cert');
    lab.routes['PUT auth/cert/login'] = { body: login };
    const env = { STRONGROOM_CLIENT_CERT: '/x.pem', STRONGROOM_CLIENT_KEY: '/x.key' };
    expect(await lab.run(['login', '-method=cert', '-token-only', 'name=web'], { env })).toMatchObject({ code: 0 });
    expect(lab.seen.at(-1)?.body).toEqual({ name: 'web' });
  });
});
