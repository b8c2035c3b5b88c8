import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { addOpenidProvider, describeWhere, startOidcIssuer, type OidcIssuer } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

describeWhere(noChromium, 'a login', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let issuer: OidcIssuer;
  let tab: Tab;

  beforeAll(async () => {
    [server, browser, issuer] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start(), startOidcIssuer()]);
    const provider = addOpenidProvider(issuer);
    provider.person.claims = { sub: 'ada', email: 'ada@example.org' };
    await server.set('POST', 'sys/auth/oidc', { type: 'oidc', config: { listing_visibility: 'unauth' } });
    const client = { oidc_client_id: 'lab-client', oidc_client_secret: 'lab-secret', default_role: 'staff' };
    await server.set('POST', 'auth/oidc/config', { oidc_discovery_url: issuer.url, ...client });
    const role = { user_claim: 'email', oidc_scopes: 'email', token_policies: 'default', token_ttl: '1h' };
    await server.set('POST', 'auth/oidc/role/staff', { ...role, allowed_redirect_uris: `${server.origin}/ui/login/callback` });
    await server.set('POST', 'auth/oidc/role/older', {
      ...role,
      allowed_redirect_uris: `${server.origin}/ui/vault/auth/oidc/oidc/callback`,
    });
    await server.set('POST', 'sys/auth/approle', { type: 'approle' });
    await server.set('POST', 'auth/approle/role/job', { token_policies: 'default' });
  });
  beforeEach(async () => {
    tab = await browser.tab(server.origin);
  });
  afterEach(async () => {
    expect(tab.faults.filter((fault) => !fault.startsWith(`request to ${issuer.url}`))).toEqual([]);
    await tab.close();
  });
  afterAll(async () => {
    await browser?.stop();
    await Promise.all([server?.stop(), issuer?.stop()]);
  });

  const arrived = async (name: string): Promise<void> => tab.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

  test.each(['', 'older'])(
    'at an identity provider, in the same tab, comes back to the page that was asked for (role %p)',
    async (role) => {
      await tab.page.goto('/ui/mounts');
      await tab.page.getByRole('textbox', { name: 'Role' }).fill(role);
      await tab.page.getByRole('button', { name: 'Log in', exact: true }).click();
      await arrived('Mounts');
      expect(tab.page.url()).toBe(`${server.origin}/ui/mounts`);
      expect(await tab.page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('strongroom-oidc')))).toEqual([]);
    },
  );

  test('at an identity provider, in a window of its own', async () => {
    await tab.page.goto('/ui/mounts');
    await tab.page.getByRole('button', { name: 'Log in in a window of its own' }).click();
    await arrived('Mounts');
  });

  test('that this tab has not begun is refused', async () => {
    await tab.page.goto('/ui/login/callback?state=st_stranger&code=c_stranger');
    await tab.page.getByText('This tab has not begun this login').waitFor();
    expect(await tab.places('c_stranger')).toEqual([]);
  });

  test('with AppRole, at a mount whose name is typed', async () => {
    const { data: role } = await server.set('GET', 'auth/approle/role/job/role-id');
    const { data: secret } = await server.set('POST', 'auth/approle/role/job/secret-id', {});
    await tab.page.goto('/ui/login');
    await tab.page.getByRole('tab', { name: 'Other…' }).click();
    await tab.page.getByRole('textbox', { name: 'Mount path' }).fill('approle');
    await tab.page.getByRole('combobox', { name: 'Kind' }).click();
    await tab.page.getByRole('option', { name: 'AppRole (for a test)' }).click();
    await tab.page.getByRole('textbox', { name: 'Role id' }).fill(String(role['role_id']));
    await tab.page.getByRole('textbox', { name: 'Secret id' }).fill(String(secret['secret_id']));
    await tab.page.getByRole('button', { name: 'Log in', exact: true }).click();
    await arrived('Home');
    expect(await tab.places(String(secret['secret_id']))).toEqual([]);
  });
});
