import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addOpenidProvider, createTestCa, describeWhere, freePorts, startOidcIssuer, type OidcIssuer } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

const PASSWORD = 'correct-horse';
const MINUTES = 60_000;

describeWhere(noChromium, 'where tokens are kept in memory alone', () => {
  const ca = createTestCa();
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-login-flows-'));
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let issuer: OidcIssuer;
  let provider: ReturnType<typeof addOpenidProvider>;
  let tls: string;
  let tab: Tab;

  beforeAll(async () => {
    const [port] = await freePorts(1);
    const { cert, key } = ca.issue('localhost', ['DNS:localhost', 'IP:127.0.0.1']);
    const files = { tls_cert_file: join(folder, 'cert.pem'), tls_key_file: join(folder, 'key.pem') };
    writeFileSync(files.tls_cert_file, cert);
    writeFileSync(files.tls_key_file, key);
    const listener = { address: `127.0.0.1:${port}`, ...files };
    const lines = Object.entries(listener).map(([name, value]) => `  ${name} = "${value}"`);
    const configuration = `console { session = "memory" }\nlistener "tcp" {\n${lines.join('\n')}\n}`;
    tls = `https://127.0.0.1:${port}`;
    [server, browser, issuer] = await Promise.all([ConsoleServer.start({ configuration }), ConsoleBrowser.start(), startOidcIssuer()]);
    provider = addOpenidProvider(issuer);
    for (const type of ['userpass', 'oidc', 'cert'])
      await server.set('POST', `sys/auth/${type}`, { type, config: { listing_visibility: 'unauth' } });
    const user = { password: PASSWORD, token_policies: 'default', token_ttl: '1h' };
    for (const name of ['ada', 'grace']) await server.set('POST', `auth/userpass/users/${name}`, user);
    const client = { oidc_client_id: 'lab-client', oidc_client_secret: 'lab-secret', default_role: 'phone' };
    await server.set('POST', 'auth/oidc/config', { oidc_discovery_url: issuer.url, ...client });
    const device = { callback_mode: 'device', poll_interval: 1, user_claim: 'email', token_policies: 'default' };
    await server.set('POST', 'auth/oidc/role/phone', device);
    await server.set('POST', 'sys/auth/jwt', { type: 'jwt' });
    await server.set('POST', 'auth/jwt/config', { jwks_url: issuer.jwksUrl, default_role: 'ci' });
    await server.set('POST', 'auth/jwt/role/ci', {
      role_type: 'jwt',
      user_claim: 'sub',
      bound_audiences: 'strongroom',
      token_policies: 'default',
    });
    await server.set('POST', 'auth/cert/certs/people', { certificate: ca.certificate, token_policies: 'default' });
  }, 60_000);
  beforeEach(async () => {
    tab = await browser.tab(server.origin);
  });
  afterEach(async () => {
    expect(tab.faults).toEqual([]);
    await tab.close();
  });
  afterAll(async () => {
    await browser?.stop();
    await Promise.all([server?.stop(), issuer?.stop()]);
    rmSync(folder, { recursive: true });
  });

  const press = async (name: string, page = tab.page): Promise<void> => page.getByRole('button', { name, exact: true }).click();
  const arrived = async (name: string): Promise<void> => tab.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const give = async (name: string, page = tab.page): Promise<void> => {
    await page.getByRole('tab', { name: 'Username' }).click();
    await page.getByRole('textbox', { name: 'Username' }).fill(name);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await press('Log in', page);
  };
  const sessionIs = async (name: RegExp): Promise<void> => tab.page.getByRole('button', { name }).waitFor();

  test('a login ends with the page, and nothing of it is stored', async () => {
    await tab.page.goto('/ui/access/who');
    await give('grace');
    await arrived('Who may');
    expect(await tab.page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]))).not.toMatch(
      /hvs\.|s\./,
    );
    await tab.page.reload();
    await arrived('Log in');
  });

  test('logging out ends the logins of the other tabs too, on the server', async () => {
    const tokens: string[] = [];
    const other = await tab.page.context().newPage();
    for (const page of [tab.page, other]) {
      page.on('response', async (response) => {
        if (!/userpass\/login\//.test(response.url())) return;
        const { auth } = (await response.json()) as { auth: { client_token: string } };
        tokens.push(auth.client_token);
      });
      await page.goto('/ui/access/who');
      await give('grace', page);
      await page.getByRole('heading', { level: 1, name: 'Who may' }).waitFor();
    }
    const revoked = other.waitForResponse((response) => response.url().endsWith('revoke-self'));
    await tab.page.getByRole('button', { name: /^Session of/ }).click();
    await tab.page.getByRole('menuitem', { name: 'Log out' }).click();
    await arrived('Log in');
    await revoked;
    await other.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
    for (const token of tokens) expect((await server.ask('GET', 'auth/token/lookup-self', undefined, token)).status).toBe(403);
    expect(tokens).toHaveLength(2);
  });

  test('a page that cannot learn whose token it has asks again, and is locked all the same', async () => {
    await tab.page.clock.install();
    await tab.page.route('**/v1/auth/token/lookup-self', (route) => route.abort());
    await tab.login(server.rootToken, '/access/who');
    await tab.page.unroute('**/v1/auth/token/lookup-self');
    await tab.page.clock.fastForward(6_000);
    await tab.page.getByText('You use a root token').waitFor();
    await tab.page.route('**/v1/auth/token/lookup-self', (route) => route.abort());
    await tab.page.reload();
    await arrived('Who may');
    await tab.page.clock.fastForward(16 * MINUTES);
    await tab.page.getByRole('dialog').getByText('Locked').waitFor();
    tab.faults.length = 0;
  });

  test('a second factor is asked for after the password, and a wrong code is not the end', async () => {
    const { data: mounts } = await server.set('GET', 'sys/auth');
    const { accessor } = mounts['userpass/'] as { accessor: string };
    const { data: entity } = await server.set('POST', 'identity/entity', { name: 'ada' });
    await server.set('POST', 'identity/entity-alias', { name: 'ada', mount_accessor: accessor, canonical_id: entity['id'] });
    const { data: method } = await server.set('POST', 'identity/mfa/method/totp', { issuer: 'Test', method_name: 'phone' });
    const whose = { method_id: method['method_id'], entity_id: entity['id'] };
    const { data: secret } = await server.set('POST', 'identity/mfa/method/totp/admin-generate', whose);
    const rule = { mfa_method_ids: [method['method_id']], identity_entity_ids: [entity['id']] };
    await server.set('POST', 'identity/mfa/login-enforcement/ada', rule);
    await tab.page.goto('/ui/access/who');
    await give('ada');
    const code = tab.page.getByRole('textbox', { name: 'Code of phone' });
    await code.fill('000000');
    expect(await tab.violations()).toEqual([]);
    await press('Log in');
    await tab.page.getByRole('alert').waitFor();
    await code.fill(codeOf(String(secret['url'])));
    await press('Log in');
    await arrived('Who may');
  });

  test('a login that is confirmed on another device shows the code to compare, and completes by itself', async () => {
    await tab.page.goto('/ui/access/who');
    await tab.page.getByRole('tab', { name: 'oidc' }).click();
    await press('Log in');
    const code = await tab.page.getByLabel('Confirm only if it shows this code:').innerText();
    provider.decide(code, true);
    await arrived('Who may');
  });

  test('a login that is refused on the other device says so', async () => {
    await tab.page.goto('/ui/login');
    await tab.page.getByRole('tab', { name: 'oidc' }).click();
    await press('Log in');
    provider.decide(await tab.page.getByLabel('Confirm only if it shows this code:').innerText(), false);
    await tab.page
      .getByRole('alert')
      .getByText(/access_denied|denied/)
      .waitFor();
    await press('Start again');
  });

  test('a signed token logs in at a mount whose name is typed', async () => {
    await tab.page.goto('/ui/login');
    await tab.page.getByRole('tab', { name: 'Other…' }).click();
    await tab.page.getByRole('textbox', { name: 'Mount path' }).fill('jwt');
    await tab.page.getByRole('combobox', { name: 'Kind' }).click();
    await tab.page.getByRole('option', { name: 'Signed token (JWT)' }).click();
    const jwt = issuer.sign({ sub: 'build-7', aud: 'strongroom' });
    await tab.page.getByRole('textbox', { name: 'Signed token' }).fill(jwt);
    await press('Log in');
    await arrived('Home');
    expect(await tab.places(jwt)).toEqual([]);
  });

  test('a client certificate logs in without a field, and without one the server says what is missing', async () => {
    const shown = await browser.tab(tls, { certificate: ca.issue('ada') });
    for (const [who, outcome] of [
      [shown, 'Home'],
      [tab, ''],
    ] as const) {
      await who.page.goto('/ui/login?with=auth/cert');
      await who.page.getByRole('button', { name: 'Log in', exact: true }).click();
      if (outcome) await who.page.getByRole('heading', { level: 1, name: outcome }).waitFor();
      else
        await who.page
          .getByRole('alert')
          .getByText(/certificate/)
          .first()
          .waitFor();
    }
    expect(shown.faults).toEqual([]);
    await shown.close();
  });

  describe('as time passes', () => {
    let passed = 0;
    const pass = async (minutes: number): Promise<void> => {
      passed += minutes;
      await tab.page.clock.setSystemTime(Date.now() + passed * MINUTES);
    };
    beforeEach(async () => {
      passed = 0;
      await tab.page.clock.install();
      await tab.page.goto('/ui/access/who');
      await give('grace');
      await arrived('Who may');
    });

    test('a token is renewed while somebody works, and not while nobody does', async () => {
      await tab.page.getByRole('textbox', { name: 'Path' }).fill('secret/a-draft');
      await sessionIs(/ (59|60) min| 1 h/);
      const renewals: string[] = [];
      tab.page.on('request', (request) => request.url().endsWith('renew-self') && renewals.push(request.url()));
      for (const step of [14, 14]) {
        await pass(step);
        await tab.page.keyboard.press('Shift');
      }
      expect(renewals).toEqual([]);
      const renewed = tab.page.waitForResponse((response) => response.url().endsWith('renew-self'));
      await pass(13);
      expect((await renewed).status()).toBe(200);
      await sessionIs(/ (59|60) min| 1 h/);
      expect(await tab.page.getByRole('textbox', { name: 'Path' }).inputValue()).toBe('secret/a-draft');
    });

    test('the page is locked when nobody was there, and a login goes on with the draft', async () => {
      await tab.page.getByRole('textbox', { name: 'Path' }).fill('secret/a-draft');
      await pass(16);
      await tab.page.getByRole('dialog').getByText('Locked').waitFor();
      expect(await tab.page.getByRole('heading', { level: 1 }).count()).toBe(0);
      await give('grace');
      await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await tab.page.getByRole('textbox', { name: 'Path' }).inputValue()).toBe('secret/a-draft');
    });

    test('another person gets the home page and nothing of the draft', async () => {
      await tab.page.getByRole('textbox', { name: 'Path' }).fill('secret/a-draft');
      await pass(16);
      await tab.page.getByRole('dialog').getByText('Locked').waitFor();
      await server.set('POST', 'auth/userpass/users/eve', { password: PASSWORD, token_policies: 'default' });
      await give('eve');
      await arrived('Home');
      expect(await tab.places('secret/a-draft')).toEqual([]);
    });
  });
});

/** What an authenticator shows for the secret of an `otpauth` address (RFC 6238). */
function codeOf(url: string): string {
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const { searchParams } = new URL(url);
  const bits = [...searchParams.get('secret')!].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1_000 / Number(searchParams.get('period')))));
  const mac = createHmac(searchParams.get('algorithm')!, key).update(counter).digest();
  const digits = Number(searchParams.get('digits'));
  return String((mac.readUInt32BE(mac.at(-1)! & 15) & 0x7fffffff) % 10 ** digits).padStart(digits, '0');
}
