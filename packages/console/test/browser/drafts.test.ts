import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';

const EVERYTHING = 'path "*" { capabilities = ["create", "read", "update", "patch", "delete", "list", "sudo"] }';
const TYPED = 'typed-in-a-form';

/** A form of each kind: its page, and a field in it. */
const FORMS = [
  { form: 'a connection', page: '/database/db/edit/connections', field: 'Password' },
  { form: 'a role of AWS', page: '/aws/aws/edit/roles', field: 'User path' },
  { form: 'the settings of a directory', page: '/ldap/ldap/config', field: 'Bind password' },
  { form: 'a path of any engine', page: '/engine/db/roles/report?new=true', field: 'Connection' },
  { form: 'the tuning of a mount', page: '/mounts/secret/db', field: 'Description' },
  { form: 'a call of the explorer', page: '/api/db/config/:name', field: 'Password policy' },
  { form: 'a new token', page: '/access/new-token', field: 'Display name' },
] as const;

describeWhere(noChromium, 'what was typed', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  const login = async (name = 'ada'): Promise<string> =>
    (await server.set('POST', `auth/userpass/login/${name}`, { password: 'of-the-tests' })).auth!.client_token;

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
    await server.set('POST', 'sys/policies/acl/everything', { policy: EVERYTHING });
    for (const [path, type] of Object.entries({ db: 'database', aws: 'aws', ldap: 'ldap' }))
      await server.set('POST', `sys/mounts/${path}`, { type });
    await server.set('POST', 'sys/auth/userpass', { type: 'userpass' });
    for (const name of ['ada', 'bob']) {
      await server.set('POST', `auth/userpass/users/${name}`, { password: 'of-the-tests', token_policies: 'everything' });
    }
  }, 60_000);
  beforeEach(async () => {
    await tab?.close();
    tab = await browser.tab(server.origin);
  });
  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });

  const field = (name: string) => tab.page.getByRole('main').getByLabel(name, { exact: true }).first();
  /** Leaves by a link: what the page knows goes on, unlike after a reload. */
  const leave = async (): Promise<void> => {
    await tab.page.getByRole('link', { name: 'Tools' }).click();
    await tab.page.getByRole('heading', { level: 1, name: 'Wrap' }).waitFor();
  };
  const logInAgain = async (token: string): Promise<void> => {
    await tab.page.getByRole('dialog').getByRole('textbox', { name: 'Token' }).fill(token);
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click();
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const lock = async (): Promise<void> => {
    await tab.page.getByRole('button', { name: /^Session of/ }).click();
    await tab.page.getByRole('menuitem', { name: 'Lock' }).click();
    await tab.page.getByRole('dialog').getByText('Locked').waitFor();
  };

  test.each(FORMS)('in $form stays while the page is left and while it is locked, and is never stored', async ({ page, field: name }) => {
    const token = await login();
    await tab.login(token, page);
    await field(name).fill(TYPED);
    await leave();
    expect(await tab.places(TYPED)).toEqual([]);
    await tab.page.goBack();
    await tab.page.getByText('These are unsaved changes from before').waitFor();
    expect(await field(name).inputValue()).toBe(TYPED);
    await lock();
    expect(await tab.places(TYPED)).toEqual([]);
    await logInAgain(await login());
    expect(await field(name).inputValue()).toBe(TYPED);
    await tab.page.getByRole('button', { name: 'Discard' }).click();
    expect(await field(name).inputValue()).toBe('');
    await leave();
    await tab.page.goBack();
    await field(name).waitFor();
    expect(await field(name).inputValue()).toBe('');
  });

  test('in a dialogue, or in a field of one line, is out of the document while it is locked, and is there again afterwards', async () => {
    await tab.login(await login(), '/server/audit');
    await tab.page.getByRole('textbox', { name: 'Value to find' }).fill(TYPED);
    await lock();
    expect(await tab.places(TYPED)).toEqual([]);
    await logInAgain(await login());
    expect(await tab.page.getByRole('textbox', { name: 'Value to find' }).inputValue()).toBe(TYPED);
    await tab.open('/server/seal');
    await tab.page.getByRole('button', { name: 'Seal the server' }).click();
    await tab.page.getByRole('dialog').getByRole('textbox').fill(TYPED);
    const shared = await tab.sibling(await login(), '/tools');
    await shared.page.getByRole('button', { name: /^Session of/ }).click();
    await shared.page.getByRole('menuitem', { name: 'Lock' }).click();
    await tab.page.getByRole('dialog').getByText('Locked').waitFor();
    expect(await tab.places(TYPED)).toEqual([]);
    expect(await tab.page.getByRole('dialog').count()).toBe(1);
    expect(tab.faults).toEqual([]);
  });

  test('stays when the session ends by the save, which then goes on', async () => {
    const token = await login();
    await tab.login(token, '/ldap/ldap/config');
    await field('URL').fill('ldap://ldap.example.org');
    await field('Bind DN').fill('cn=manager,dc=example,dc=org');
    await field('Bind password').fill(TYPED);
    await tab.beforeWrite('ldap/config', () => server.set('POST', 'auth/token/revoke', { token }));
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByRole('dialog').getByText('Your login has ended').waitFor();
    await look(tab, 'draft-covered');
    await logInAgain(await login());
    await tab.page.getByText('Unsaved: URL, Bind DN, Bind password').waitFor();
    await look(tab, 'draft-found');
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByText('Saved.', { exact: true }).waitFor();
    expect((await server.set('GET', 'ldap/config')).data).toMatchObject({ url: 'ldap://ldap.example.org', bindpass_set: true });
    expect(await tab.places(TYPED)).toEqual([]);
  });

  test('in the editor of a policy stays over a lock, and on the page that was left', async () => {
    await tab.login(await login(), '/access/policies/everything');
    const editor = tab.page.getByRole('textbox', { name: 'Policy everything' });
    await editor.click();
    await tab.page.keyboard.press('Control+Home');
    await tab.page.keyboard.type(`# ${TYPED} `);
    await tab.page.getByText('not saved', { exact: true }).waitFor();
    await lock();
    expect(await tab.places(TYPED)).toEqual([]);
    await logInAgain(await login());
    await editor.getByText(TYPED).waitFor();
    await leave();
    await tab.page.goBack();
    await tab.page.getByText('These are unsaved changes from before').waitFor();
    await editor.getByText(TYPED).waitFor();
    await tab.page.getByRole('button', { name: 'Drop them' }).click();
    await editor.getByText(TYPED).waitFor({ state: 'detached' });
  });

  test('is not shown to somebody else, and is forgotten by a log-out', async () => {
    await tab.login(await login(), '/database/db/edit/connections');
    await field('Password').fill(TYPED);
    await lock();
    await logInAgain(await login('bob'));
    await tab.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await tab.page.getByRole('link', { name: 'Databases' }).click();
    await tab.page.getByRole('link', { name: 'db/' }).click();
    await tab.page.getByRole('button', { name: 'New connection' }).click();
    await field('Password').waitFor();
    expect(await field('Password').inputValue()).toBe('');
    await field('Password').fill(`${TYPED} by bob`);
    await tab.page.getByRole('button', { name: /^Session of/ }).click();
    await tab.page.getByRole('menuitem', { name: 'Log out' }).click();
    const stays = tab.page.getByRole('button', { name: 'Forget it here' });
    await stays.or(tab.page.getByRole('heading', { level: 1, name: 'Log in' })).waitFor();
    if (await stays.isVisible()) await stays.click();
    await tab.page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
    expect(await tab.places(TYPED)).toEqual([]);
  });
});
