import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

describeWhere(noChromium, 'a session', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    const configuration = 'console { banner = "Production" }';
    [server, browser] = await Promise.all([ConsoleServer.start({ configuration }), ConsoleBrowser.start()]);
    await server.set('POST', 'sys/auth/userpass', { type: 'userpass', config: { listing_visibility: 'unauth' } });
    await server.set('POST', 'sys/auth/team/userpass', { type: 'userpass', description: 'People of the team' });
    for (const at of ['userpass', 'team/userpass']) {
      await server.set('POST', `auth/${at}/users/ada`, { password: 'correct-horse', token_policies: 'default', token_ttl: '1h' });
    }
  });
  beforeEach(async () => {
    tab = await browser.tab(server.origin);
  });
  afterEach(async () => {
    expect(tab.faults).toEqual([]);
    await tab.close();
  });
  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });

  const passwordLogin = async (password = 'correct-horse'): Promise<void> => {
    await tab.page.getByRole('textbox', { name: 'Username' }).fill('ada');
    await tab.page.getByRole('textbox', { name: 'Password' }).fill(password);
    await tab.page.getByRole('button', { name: 'Log in', exact: true }).click();
  };
  const openMenu = async (item: string): Promise<void> => {
    await tab.page.getByRole('button', { name: /^Session of/ }).click();
    await tab.page.getByRole('menuitem', { name: item }).click();
  };
  const storedToken = async (): Promise<string | null> => tab.page.evaluate(() => sessionStorage.getItem('strongroom-token'));

  test('begins with a name and a password, on the page that was asked for, and ends on the server when one logs out', async () => {
    await tab.page.goto('/ui/mounts');
    await tab.page.getByText('Production').waitFor();
    await passwordLogin();
    await tab.page.getByRole('heading', { level: 1, name: 'Mounts' }).waitFor();
    const token = (await storedToken())!;
    expect((await server.ask('GET', 'auth/token/lookup-self', undefined, token)).status).toBe(200);
    await openMenu('Log out');
    await tab.page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
    expect(await tab.places(token)).toEqual([]);
    expect((await server.ask('GET', 'auth/token/lookup-self', undefined, token)).status).toBe(403);
  });

  test('is refused with a sentence, and the form keeps the name', async () => {
    await tab.page.goto('/ui/login');
    await passwordLogin('wrong');
    await tab.page.getByRole('alert').getByText('invalid username or password').waitFor();
    expect(await tab.page.getByRole('textbox', { name: 'Username' }).inputValue()).toBe('ada');
    expect(await tab.violations()).toEqual([]);
  });

  test('begins at a mount that the server does not list, from a link', async () => {
    await tab.page.goto('/ui/login?with=auth/team/userpass');
    expect(await tab.page.getByRole('textbox', { name: 'Mount path' }).inputValue()).toBe('team/userpass');
    await passwordLogin();
    await tab.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });

  test('of a root token is named on every page; logging out asks whether the token may live', async () => {
    await tab.page.goto('/ui/login');
    await tab.page.getByRole('tab', { name: 'Token' }).click();
    await tab.page.getByRole('textbox', { name: 'Token' }).fill(server.rootToken);
    await tab.page.getByRole('button', { name: 'Log in' }).click();
    await tab.page.getByText('You use a root token').waitFor();
    await openMenu('Log out');
    await tab.page.getByRole('button', { name: 'Forget it here' }).click();
    await tab.page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
    expect(await tab.places(server.rootToken)).toEqual([]);
    expect((await server.ask('GET', 'auth/token/lookup-self')).status).toBe(200);
  });

  test('survives a reload of the page', async () => {
    await tab.login(server.rootToken, '/mounts');
    await tab.page.reload();
    await tab.page.getByRole('heading', { level: 1, name: 'Mounts' }).waitFor();
  });

  test('that ends on the server is begun again over the page, which keeps what was typed', async () => {
    await tab.page.goto('/ui/server/audit');
    await passwordLogin();
    await tab.page.getByRole('heading', { level: 1, name: 'Audit devices' }).waitFor();
    await tab.page.getByRole('textbox', { name: 'Value to find' }).fill('a draft');
    const token = await storedToken();
    await tab.beforeWrite('auth/token/renew-self', () => server.set('POST', 'auth/token/revoke', { token }));
    await tab.page.getByRole('button', { name: /^Session of/ }).click();
    await tab.page.getByRole('menuitem', { name: 'Renew' }).click();
    await tab.page.getByRole('dialog').getByText('Your login has ended').waitFor();
    await passwordLogin();
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await tab.page.getByRole('textbox', { name: 'Value to find' }).inputValue()).toBe('a draft');
  });

  test('is locked in all tabs, and nothing of it is left in their storage', async () => {
    await tab.login(server.rootToken, '/mounts');
    const other = await tab.sibling(server.rootToken, '/mounts');
    await openMenu('Lock');
    for (const one of [tab, other]) {
      await one.page.getByRole('dialog').getByText('Locked').waitFor();
      expect(await one.page.getByRole('heading', { level: 1 }).count()).toBe(0);
      expect(await one.places(server.rootToken)).toEqual([]);
    }
    await tab.page.reload();
    await tab.page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
  });
});
