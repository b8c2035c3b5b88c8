import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

const PASSWORD = 'planted-value-of-the-shop';

describeWhere(noChromium, 'a developer finds a secret and copies one value', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;
  /** What is pasted into the palette, which is closed again. */
  const pasted = async (): Promise<string> => {
    await tab.page.keyboard.press('Control+k');
    const field = tab.page.getByRole('combobox');
    await field.focus();
    await tab.page.keyboard.press('Control+v');
    const text = await field.inputValue();
    await tab.page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    return text;
  };

  beforeAll(async () => {
    [server, browser] = await Promise.all([
      ConsoleServer.start({ configuration: 'console { show_seconds = 300 }' }),
      ConsoleBrowser.start(),
    ]);
    await server.set('POST', 'secret/data/team/shop/database', { data: { username: 'shop', password: PASSWORD } });
    await server.set('POST', 'secret/data/pay/database', { data: { password: 'another' } });
    const token = await server.tokenWith(
      'developer',
      `path "secret/data/team/shop/*" { capabilities = ["read"] }
       path "secret/metadata/team/shop/*" { capabilities = ["list"] }`,
    );
    tab = await browser.tab(server.origin);
    await tab.login(token, '/kv');
  });

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });

  test('with two keys after the name, and the value was never drawn', async () => {
    const { page } = tab;
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('shop database');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'database' }).waitFor();
    await page.getByRole('row', { name: 'password', exact: true }).waitFor();
    await page.keyboard.press('2');
    await page.getByText('Copied.').waitFor();
    expect(await tab.places(PASSWORD)).toEqual([]);
    expect(await pasted()).toBe(PASSWORD);
    expect(new URL(page.url()).pathname).toBe('/ui/kv/secret/show/team/shop/database');
    expect(tab.faults).toEqual([]);
  });

  test('and what the token may not list is neither found nor hinted at', async () => {
    const { page } = tab;
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('pay');
    await page.getByText('Nothing has this name, as far as the token may list.').waitFor();
    expect(await page.getByRole('option').count()).toBe(0);
    await page.keyboard.press('Escape');
  });

  test('which is drawn while it is shown, and gone when it is hidden', async () => {
    await tab.page.getByRole('button', { name: 'Show password' }).click();
    await tab.page.getByText(PASSWORD).waitFor();
    expect(await tab.places(PASSWORD)).toEqual(['document']);
    await tab.page.getByRole('button', { name: 'Hide password' }).click();
    expect(await tab.places(PASSWORD)).toEqual([]);
  });

  test('and is hidden again after as many seconds as the operator configured', async () => {
    const another = await browser.tab(server.origin);
    const { page } = another;
    await page.clock.install();
    await another.login(server.rootToken, '/kv/secret/show/team/shop/database');
    await page.getByRole('button', { name: 'Show password' }).click();
    await page.getByText(PASSWORD).waitFor();
    await page.clock.fastForward(200_000);
    expect(await another.places(PASSWORD)).toEqual(['document']);
    await page.clock.fastForward(100_000);
    await page.getByRole('button', { name: 'Show password' }).waitFor();
    expect(await another.places(PASSWORD)).toEqual([]);
    expect(another.faults).toEqual([]);
    await another.close();
  });

  test('from the mount down, through folders that the token may not list', async () => {
    const { page } = tab;
    await tab.open('/kv/secret/list/');
    await page.getByText('The token may not list this folder').waitFor();
    await page.getByRole('link', { name: 'team/' }).click();
    await page.getByRole('link', { name: 'shop/' }).click();
    await page.getByRole('region', { name: 'Secrets and folders' }).getByRole('link', { name: 'database' }).click();
    await page.getByRole('row', { name: 'password', exact: true }).waitFor();
    await tab.open('/kv/secret/list/');
    await page.getByRole('textbox', { name: 'Go to path' }).fill('team/shop/database');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: 'password', exact: true }).waitFor();
  });

  test('and what it may not do says which right is missing', async () => {
    await tab.page
      .getByRole('button', { name: /^New version: not allowed, missing update or create on secret\/data\/team\/shop\/database/ })
      .waitFor();
    await tab.page.getByRole('button', { name: /^Delete: not allowed/ }).waitFor();
  });
});
