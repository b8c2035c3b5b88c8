import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';

describeWhere(noChromium, 'the frame of every page', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
    await server.set('POST', 'secret/data/shop', { data: { user: 'shop', password: 'hidden-of-keys' } });
    tab = await browser.tab(server.origin);
    await tab.login(server.rootToken, '/');
  }, 60_000);
  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });

  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await tab.page.keyboard.press(key);
  };
  const heading = async (name: string): Promise<void> => tab.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

  test('goes to places and edits by keys, which their help lists', async () => {
    await heading('Home');
    await press('g', 's');
    await heading('Secrets');
    await press('?');
    const help = tab.page.getByRole('dialog', { name: 'Keys' });
    await help.getByText('Edit what the page is about').waitFor();
    await look(tab, 'keys');
    expect(await tab.violations()).toEqual([]);
    await press('Escape');
    await tab.open('/kv/secret/show/shop');
    await tab.page.getByRole('button', { name: 'New version' }).waitFor();
    await press('e');
    await heading('Edit shop');
  });

  test('takes no key in a field for itself', async () => {
    await tab.page.getByRole('button', { name: 'Replace password' }).click();
    const field = tab.page.getByRole('textbox', { name: 'Value of password' });
    await field.click();
    await press('g', 'h', '?', 'e');
    expect(await field.inputValue()).toBe('gh?e');
    await heading('Edit shop');
    await tab.page.getByRole('button', { name: 'Cancel' }).click();
    await heading('shop');
  });

  test('leaves keys without Ctrl alone once they are turned off, in this browser from then on', async () => {
    await press('?');
    await tab.page.getByRole('switch', { name: 'Keys without Ctrl' }).click();
    await press('Escape');
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
    await press('g', 'h');
    await press('?');
    await tab.page.reload();
    await heading('shop');
    await press('g', 'h');
    await heading('shop');
    expect(await tab.page.getByRole('dialog').count()).toBe(0);
    await tab.page.getByRole('button', { name: /^Session of/ }).click();
    await tab.page.getByRole('menuitem', { name: 'Keys' }).click();
    await tab.page.getByRole('switch', { name: 'Keys without Ctrl' }).click();
    await press('Escape');
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
    await press('g', 'h');
    await heading('Home');
  });

  test('says how many things need a person beside the entry that leads to them, and how the server stands', async () => {
    await tab.page.getByRole('link', { name: 'Access 1 need a person' }).waitFor();
    await tab.page.getByRole('link', { name: 'unsealed' }).click();
    await heading('Nodes');
  });

  test('shows one notice of what was copied, the newest', async () => {
    await tab.open('/kv/secret/show/shop');
    await tab.page.getByRole('button', { name: 'Copy user' }).click();
    await tab.page.getByRole('button', { name: 'Copy password' }).click();
    await tab.page
      .getByText(/The clipboard keeps it/)
      .first()
      .waitFor();
    await tab.page.waitForFunction(() => document.querySelectorAll('.mantine-Notification-root').length === 1);
    expect(tab.faults).toEqual([]);
  });
});
