import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { NASTY_NAMES } from '../nasty-names.ts';
import { pageUrl } from '../../web/api/names-in-urls.ts';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';

describeWhere(noChromium, 'an owner changes a secret', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;
  let names = 0;
  let secret: string;

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
    await server.set('POST', 'sys/mounts/old', { type: 'kv', options: { version: '1' } });
    await server.set('POST', 'sys/auth/people', { type: 'userpass' });
    await server.set('POST', 'sys/policies/acl/owner', {
      policy: 'path "secret/*" { capabilities = ["create", "read", "update", "list"] }',
    });
    await server.set('POST', 'auth/people/users/ada', { password: 'of-ada', token_policies: ['owner'] });
    tab = await browser.tab(server.origin);
    await tab.login(server.rootToken, '/kv');
  });
  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });
  beforeEach(async () => {
    tab.faults.length = 0;
    names += 1;
    secret = `shop/database-${names}`;
    await server.set('POST', `secret/data/${secret}`, { data: { username: 'shop', password: 'the-first-one', db: { port: 5432 } } });
  });

  const stored = async (version?: number): Promise<{ data: unknown; version: number }> => {
    const { data } = await server.ask('GET', `secret/data/${secret}${version === undefined ? '' : `?version=${version}`}`);
    return { data: data.data, version: (data.metadata as { version: number }).version };
  };
  const replace = async (key: string, text: string): Promise<void> => {
    await tab.page.getByRole('button', { name: `Replace ${key}` }).click();
    await tab.page.getByRole('textbox', { name: `Value of ${key}` }).fill(text);
  };
  const button = (name: string | RegExp) => tab.page.getByRole('button', { name, exact: typeof name === 'string' });
  const saved = async (): Promise<void> =>
    tab.page.getByRole('heading', { level: 1, name: secret.split('/').at(-1)!, exact: true }).waitFor();

  test('sees what differs before the save, without a value being drawn, and saves one version', async () => {
    await tab.open(`/kv/secret/show/${secret}`);
    await button('New version').click();
    await replace('password', 'planted-second');
    await button('Add a value in db').click();
    await tab.page.getByRole('textbox', { name: 'Key of the new value' }).fill('host');
    await tab.page.getByRole('textbox', { name: 'Value of db.host' }).fill('db.internal');
    expect(await tab.places('the-first-one')).toEqual([]);
    await button('Review changes').click();
    await tab.page.getByRole('row', { name: /password ~ changed/ }).waitFor();
    await tab.page.getByRole('row', { name: /db\.host \+ added/ }).waitFor();
    expect(await tab.page.getByRole('row', { name: /username/ }).count()).toBe(0);
    expect([...(await tab.places('the-first-one')), ...(await tab.places('planted-second'))]).toEqual([]);
    await button('Save version 2').click();
    await saved();
    expect(await stored()).toEqual({
      data: { username: 'shop', password: 'planted-second', db: { port: 5432, host: 'db.internal' } },
      version: 2,
    });
    expect(tab.faults).toEqual([]);
  });

  test('never overwrites the change of another: both sides are shown, and what only one of them changed goes together', async () => {
    await tab.open(`/kv/secret/edit/${secret}`);
    await replace('password', 'my-password');
    await button('Review changes').click();
    await server.set('POST', `secret/data/${secret}`, { data: { username: 'store', password: 'their-password', db: { port: 5432 } } });
    await button('Save version 2').click();
    await tab.page.getByText('Somebody else saved this secret while you edited it').waitFor();
    const row = tab.page.getByRole('row', { name: /^password/ });
    await row.getByRole('button', { name: 'Show password in version 2' }).click();
    await row.getByText('their-password').waitFor();
    await row.getByRole('button', { name: 'Show password in yours' }).click();
    await row.getByText('my-password').waitFor();
    expect(await tab.page.getByRole('row').count()).toBe(2);
    await tab.page.getByRole('radio', { name: 'Take yours' }).check();
    await button('Review the result').click();
    await button('Save version 3').click();
    await saved();
    expect(await stored()).toEqual({ data: { username: 'store', password: 'my-password', db: { port: 5432 } }, version: 3 });
  });

  test('goes back to an old version in one click and one save', async () => {
    await server.set('POST', `secret/data/${secret}`, { data: { password: 'a-mistake' } });
    await tab.open(`/kv/secret/show/${secret}?tab=versions`);
    await tab.page.getByRole('link', { name: '1', exact: true }).click();
    await button('Go back to version 1').click();
    await button('Review changes').click();
    await tab.page.getByRole('row', { name: /username \+ added/ }).waitFor();
    await button('Save version 3').click();
    await saved();
    expect(await stored()).toEqual({ data: (await stored(1)).data, version: 3 });
  });

  test('compares any two versions', async () => {
    await server.set('POST', `secret/data/${secret}`, { data: { username: 'shop', password: 'planted-other', db: { port: 5432 } } });
    await tab.open(`/kv/secret/show/${secret}?tab=versions`);
    // The first is the page's, which compares with another secret; those of the versions come with the list.
    await button('Compare').nth(1).waitFor();
    await button('Compare').last().click();
    await tab.page.getByText('1 of 3 values differ.').waitFor();
    expect(await tab.places('planted-other')).toEqual([]);
    await tab.page.getByRole('button', { name: 'Show password in version 2' }).click();
    await tab.page.getByText('planted-other').waitFor();
  });

  test('deletes, undeletes and destroys a version by its name', async () => {
    await tab.open(`/kv/secret/show/${secret}?tab=versions`);
    await button('Delete version 1').click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Delete version 1' }).click();
    await button('Undelete version 1').click();
    await button('Destroy version 1').click();
    const dialog = tab.page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Destroy version 1' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill(secret.split('/').at(-1)!);
    await dialog.getByRole('button', { name: 'Destroy version 1' }).click();
    await tab.page.getByRole('cell', { name: 'destroyed' }).waitFor();
    await tab.open(`/kv/secret/show/${secret}`);
    await tab.page.getByText('Its values are gone for good.').waitFor();
  });

  test('writes what they may not read: single keys by a patch, with the names of the others, and the whole where that is all they may', async () => {
    const rules = (data: string) =>
      `path "secret/data/${secret}" { capabilities = [${data}] }\npath "secret/subkeys/${secret}" { capabilities = ["read"] }`;
    const blind = await browser.tab(server.origin);
    await blind.login(await server.tokenWith('patcher', rules('"patch"')), `/kv/secret/edit/${secret}`);
    await blind.page.getByText(/has these keys: .*password/).waitFor();
    await blind.page.getByRole('textbox', { name: 'Key of the new value' }).fill('password');
    await blind.page.getByRole('textbox', { name: 'Value of password' }).fill('patched');
    await look(blind, 'blind-edit');
    await blind.page.getByRole('button', { name: 'Save these keys' }).click();
    await blind.page.getByRole('textbox', { name: 'Value of password' }).waitFor({ state: 'detached' });
    const before = (await stored()).data as Record<string, unknown>;
    expect(before).toMatchObject({ password: 'patched' });
    expect(Object.keys(before).length).toBeGreaterThan(1);

    const writer = await server.tokenWith('writer', `path "secret/data/${secret}" { capabilities = ["update"] }`);
    await blind.login(writer, `/kv/secret/edit/${secret}`);
    await blind.page.getByText('What it holds now is not known here').waitFor();
    await blind.page.getByRole('radio', { name: 'Replaces the whole secret' }).check();
    await blind.page.getByRole('textbox', { name: 'Key of the new value' }).fill('password');
    await blind.page.getByRole('textbox', { name: 'Value of password' }).fill('replaced');
    await blind.page.getByRole('button', { name: 'Replace the secret' }).click();
    await blind.page.getByRole('dialog').getByRole('button', { name: 'Replace the secret' }).click();
    await blind.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await stored()).data).toEqual({ password: 'replaced' });
    await blind.close();
  });

  test('keeps unsaved work when the session is lost', async () => {
    const login = async (): Promise<string> =>
      (await server.set('POST', 'auth/people/login/ada', { password: 'of-ada' })).auth!.client_token;
    const token = await login();
    const own = await browser.tab(server.origin);
    await own.login(token, `/kv/secret/edit/${secret}`);
    await own.page.getByRole('button', { name: 'Replace password' }).click();
    await own.page.getByRole('textbox', { name: 'Value of password' }).fill('planted-draft');
    await own.page.getByRole('button', { name: 'Review changes' }).click();
    await own.beforeWrite('secret/data/**', () => server.set('POST', 'auth/token/revoke', { token }));
    await own.page.getByRole('button', { name: 'Save version 2' }).click();
    await own.page.getByRole('textbox', { name: 'Token' }).fill(await login());
    await own.page.getByRole('button', { name: 'Log in' }).click();
    await own.page.getByText('These are unsaved changes from before').waitFor();
    await own.page.getByRole('button', { name: 'Review changes' }).click();
    await own.page.getByRole('button', { name: 'Save version 2' }).click();
    await own.page.getByRole('heading', { level: 1, name: secret.split('/').at(-1)!, exact: true }).waitFor();
    expect((await stored()).data).toMatchObject({ password: 'planted-draft' });
    await own.close();
  });

  test('imports a .env file, and exports what is stored', async () => {
    await tab.open(`/kv/secret/edit/${secret}`);
    await button('Import .env or JSON').click();
    await tab.page.getByRole('textbox', { name: 'Values' }).fill(`password='with # and "quotes"'\nAPI_KEY=abc\n`);
    await button('Import').click();
    await button('Review changes').click();
    await button('Save version 2').click();
    await saved();
    expect((await stored()).data).toEqual({ username: 'shop', password: 'with # and "quotes"', db: { port: 5432 }, API_KEY: 'abc' });
    await button('Export').click();
    await tab.page.getByRole('menuitem', { name: 'Copy as .env' }).click();
    await tab.page.getByText('Copied.').waitFor();
    await tab.open(`/kv/secret/edit/${secret}`);
    await button('Import .env or JSON').click();
    const field = tab.page.getByRole('textbox', { name: 'Values' });
    await field.focus();
    await tab.page.keyboard.press('Control+v');
    expect((await field.inputValue()).split('\n').sort()).toEqual([
      '',
      'API_KEY=abc',
      'db_port=5432',
      `password='with # and "quotes"'`,
      'username=shop',
    ]);
  });

  test('keeps every digit of a number that no float holds', async () => {
    await fetch(`${server.origin}/v1/old/exact`, {
      method: 'POST',
      headers: { 'X-Vault-Token': server.rootToken, 'Content-Type': 'application/json' },
      body: '{"serial":12345678901234567890,"name":"a"}',
    });
    await tab.open('/kv/old/edit/exact');
    await replace('name', 'b');
    await button('Review changes').click();
    await button('Save').click();
    await tab.page.getByRole('heading', { level: 1, name: 'exact', exact: true }).waitFor();
    const response = await fetch(`${server.origin}/v1/old/exact`, { headers: { 'X-Vault-Token': server.rootToken } });
    expect(await response.text()).toContain('"data":{"serial":12345678901234567890,"name":"b"}');
  });

  test('learns of a change behind their back where the mount keeps no versions', async () => {
    await server.set('POST', 'old/plain', { a: '1', b: '1' });
    await tab.open('/kv/old/edit/plain');
    await replace('a', '2');
    await button('Review changes').click();
    await server.set('POST', 'old/plain', { a: '1', b: '3' });
    await button('Save').click();
    await tab.page.getByText('both changes go together').waitFor();
    await button('Review the result').click();
    await button('Save').click();
    await tab.page.getByRole('heading', { level: 1, name: 'plain', exact: true }).waitFor();
    expect((await server.ask('GET', 'old/plain')).data).toEqual({ a: '2', b: '3' });
  });

  test('describes the secret, and a change of the description behind their back is refused', async () => {
    await tab.open(`/kv/secret/show/${secret}?tab=metadata`);
    await button('Edit metadata').click();
    await button('Add a text').click();
    await tab.page.getByRole('textbox', { name: 'Key' }).fill('owner');
    await tab.page.getByRole('textbox', { name: 'Text of owner' }).fill('payments');
    await server.set('POST', `secret/metadata/${secret}`, { max_versions: 3 });
    await button('Save').click();
    await tab.page.getByText('metadata check-and-set parameter does not match the current version').waitFor();
    await tab.open(`/kv/secret/show/${secret}?tab=metadata`);
    await button('Edit metadata').click();
    await button('Add a text').click();
    await tab.page.getByRole('textbox', { name: 'Key' }).fill('owner');
    await tab.page.getByRole('textbox', { name: 'Text of owner' }).fill('payments');
    await button('Save').click();
    await button('Edit metadata').waitFor();
    expect((await server.ask('GET', `secret/metadata/${secret}`)).data).toMatchObject({
      custom_metadata: { owner: 'payments' },
      max_versions: 3,
    });
  });

  test.each(['versions', 'metadata', 'copies', 'paths'])(
    'finds the part %s without a fault for axe, in the light and in the dark',
    async (part) => {
      await server.set('POST', `secret/data/${secret}`, { data: { username: 'store' } });
      await tab.open(`/kv/secret/show/${secret}?tab=${part}`);
      await tab.settled();
      for (const scheme of ['light', 'dark'] as const) {
        await tab.dress(scheme);
        expect(await tab.violations()).toEqual([]);
      }
      expect([await tab.widerThanWindow(), tab.faults]).toEqual([[], []]);
    },
  );

  describe('of any name', () => {
    test.each(NASTY_NAMES)('%j is made, listed, opened and read again after a reload', async (name) => {
      const folder = `nasty-${NASTY_NAMES.indexOf(name)}`;
      await tab.open(pageUrl('/kv/$mount/new/$', { mount: 'secret', rest: folder }));
      await tab.page.getByRole('textbox', { name: 'Path in secret/' }).fill(`${folder}/${name}`);
      await button('Continue').click();
      await button('Add a value').click();
      await tab.page.getByRole('textbox', { name: 'Key of the new value' }).fill('key');
      await tab.page.getByRole('textbox', { name: 'Value of key' }).fill(`value of ${name}`);
      await button('Review changes').click();
      await button('Save version 1').click();
      await tab.page.getByRole('row', { name: 'key', exact: true }).waitFor();
      expect((await server.ask('GET', `secret/data/${folder}/${encodeURIComponent(name)}`)).data.data).toEqual({ key: `value of ${name}` });
      await tab.open(pageUrl('/kv/$mount/list/$', { mount: 'secret', rest: folder }));
      await tab.page.getByRole('region', { name: 'Secrets and folders' }).getByRole('link').click();
      await tab.page.getByRole('row', { name: 'key', exact: true }).waitFor();
      await tab.page.reload();
      await tab.page.getByRole('row', { name: 'key', exact: true }).waitFor();
      expect(await tab.page.locator('h1').evaluate((heading) => heading.textContent)).toBe(name);
      expect(tab.faults).toEqual([]);
    });
  });
});
