import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

const SECRETS = 20_000;
const AT_ONCE = 100;

describeWhere(noChromium, 'a folder with 20,000 secrets', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
    for (let at = 0; at < SECRETS; at += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, index) =>
          server.set('POST', `secret/data/wide/secret-${String(at + index).padStart(5, '0')}`, { data: { a: '1' } }),
        ),
      );
    }
    tab = await browser.tab(server.origin);
    await tab.login(server.rootToken, '/kv/secret/list/');
  }, 300_000);

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });

  test('shows its rows with fewer than 500 elements in the document', async () => {
    await tab.page.getByRole('link', { name: 'wide/' }).click();
    await tab.page.getByRole('link', { name: 'secret-00000' }).waitFor();
    expect(await tab.page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(500);
    expect(tab.faults).toEqual([]);
  });

  test('finds the last one by the filter, and by the palette', async () => {
    await tab.page.keyboard.press('/');
    await tab.page.keyboard.type('19999');
    await tab.page.getByRole('link', { name: 'secret-19999' }).waitFor();
    await tab.page.keyboard.press('Control+k');
    await tab.page.getByRole('combobox').fill('secret-19998');
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('heading', { level: 1, name: 'secret-19998' }).waitFor();
  });
});
