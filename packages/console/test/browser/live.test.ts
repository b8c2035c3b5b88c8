import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

describeWhere(noChromium, 'what others do', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });

  test('is on the page without a reload, by one stream for all tabs of a browser', async () => {
    const tab = await browser.tab(server.origin);
    let streams = 0;
    const opened = new Promise<void>((resolve) => {
      tab.page.on('response', (response) => {
        if (!response.url().includes('/v1/sys/events')) return;
        streams += 1;
        resolve();
      });
    });
    await tab.login(server.rootToken, '/access/policies');
    await opened;
    const second = await tab.sibling(server.rootToken, '/access/policies');
    second.page.on('request', (request) => (streams += request.url().includes('/v1/sys/events') ? 1 : 0));
    await server.set('POST', 'sys/policies/acl/made-elsewhere', { policy: 'path "a" { capabilities = ["read"] }' });
    for (const page of [tab.page, second.page]) await page.getByText('made-elsewhere').waitFor();
    expect(streams).toBe(1);
    expect([...tab.faults, ...second.faults]).toEqual([]);
  }, 60_000);

  test('is asked for no more where the token may not follow it', async () => {
    const token = await server.tokenWith('lister', 'path "sys/policies/acl" { capabilities = ["list"] }');
    const tab = await browser.tab(server.origin);
    const refused = tab.page.waitForResponse((response) => response.url().includes('/v1/sys/events'));
    await tab.login(token, '/access/policies');
    expect((await refused).status()).toBe(403);
    expect(tab.faults).toEqual([]);
  }, 60_000);
});
