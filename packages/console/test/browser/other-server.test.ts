import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium } from './console-browser.ts';
import { buildHouse, type House } from './house.ts';
import { look } from './look.ts';
import { OtherServer } from './other-server.ts';
import { pageSamples } from './page-samples.ts';
import { Walk } from './walk.ts';

/** Pages of which a server without our routes has nothing. */
const GONE = /^\/(sync|work|leases$|access\/(try|who)|server\/(nodes|metrics))/;

describeWhere(noChromium, 'at another server of the same API, the console', () => {
  let house: House;
  let other: OtherServer;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    [house, browser] = await Promise.all([buildHouse(), ConsoleBrowser.start()]);
    other = await OtherServer.before(house.server.origin);
  }, 300_000);
  afterAll(async () => {
    await browser?.stop();
    await other?.stop();
    await house?.stop();
  });

  test('offers the login by token, and nothing on any page that this server does not have', async () => {
    const tab = await browser.tab(other.origin);
    await tab.page.goto('/ui/');
    await tab.page.getByRole('textbox', { name: 'Token' }).fill(house.server.rootToken);
    await tab.page.getByRole('button', { name: 'Log in' }).click();
    await tab.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await tab.page.getByRole('link', { name: 'secret/' }).waitFor();
    await look(tab, 'other-server');
    for (const name of ['Sync', 'Work', 'Leases']) expect(await tab.page.getByRole('link', { name, exact: true }).count()).toBe(0);
    const walk = new Walk(tab);
    const wrong: string[] = [];
    for (const { url, open } of Object.values(await pageSamples(house.server))) {
      if (open || (house.moto === undefined && url.startsWith('/aws/'))) continue;
      await walk.to(url);
      const said = await tab.page.evaluate(() => ({
        title: document.querySelector('h1')!.textContent,
        page: document.querySelector<HTMLElement>('#page')!.innerText,
        alerts: [...document.querySelectorAll<HTMLElement>('#page [role="alert"]')].map(({ innerText }) => innerText),
      }));
      const missing = said.title === 'There is no such page';
      if (missing !== GONE.test(url.split('?')[0]!)) wrong.push(`${url}: ${said.title}`);
      wrong.push(...said.alerts.map((text) => `${url}: ${text.replaceAll('\n', ' | ').slice(0, 200)}`));
      if (/unsupported path|has no such path/.test(said.page)) wrong.push(`${url}: names a path that the server does not have`);
    }
    expect(wrong).toEqual([]);
    expect(tab.faults).toEqual([]);
    // What is asked before the first answer says which kind of server it is.
    const early = ['sys/internal/ui/config', 'sys/internal/ui/login-methods'];
    expect(other.refused.filter((path) => path.startsWith('sys/') && !early.includes(path))).toEqual([]);
    await tab.close();
  }, 300_000);
});
