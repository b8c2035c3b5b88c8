import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

describeWhere(noChromium, 'login and the frame of the console', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
    tab = await browser.tab(server.origin);
  });

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });

  test('a token logs in, and leads to the page that was asked for', async () => {
    await tab.page.goto('/ui/mounts');
    await tab.page.getByRole('textbox', { name: 'Token' }).fill(server.rootToken);
    await tab.page.getByRole('button', { name: 'Log in' }).click();
    await tab.page.getByRole('heading', { level: 1, name: 'Mounts' }).waitFor();
    expect(new URL(tab.page.url()).pathname).toBe('/ui/mounts');
    await tab.page.getByRole('row', { name: /secret\// }).waitFor();
    expect(tab.faults).toEqual([]);
  });

  test.each(['light', 'dark'] as const)('axe finds nothing in the %s', async (scheme) => {
    const own = await browser.tab(server.origin, { scheme });
    await own.login(server.rootToken, '/mounts');
    await own.page.getByRole('row', { name: /secret\// }).waitFor();
    expect(await own.violations()).toEqual([]);
    expect(own.faults).toEqual([]);
    await own.close();
  });
});
