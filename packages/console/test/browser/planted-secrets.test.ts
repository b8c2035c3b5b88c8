import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { buildHouse, type House } from './house.ts';
import { pageSamples } from './page-samples.ts';
import { Walk } from './walk.ts';

const SHOWN = ['document', 'fields'];

describeWhere(noChromium, 'secrets', () => {
  let house: House;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    [house, browser] = await Promise.all([buildHouse(), ConsoleBrowser.start()]);
  }, 600_000);

  afterAll(async () => {
    await browser?.stop();
    await house?.stop();
  });

  /** Where the secrets are, a line each. */
  const found = async (tab: Tab): Promise<string[]> => {
    const places = await tab.finds([...house.secrets.values()]);
    return [...house.secrets.keys()].flatMap((name, at) => places[at]!.map((place) => `${name}: ${place}`));
  };

  const press = async (tab: Tab, name: RegExp): Promise<number> => {
    const buttons = await tab.page.locator('#page').getByRole('button', { name }).all();
    for (const button of buttons.reverse()) await button.click();
    return buttons.length;
  };

  test('are on no page before somebody asks, in the document alone while they are shown, and nowhere when they are hidden', async () => {
    const tab = await browser.tab(house.server.origin);
    await tab.login(house.server.rootToken);
    const walk = new Walk(tab);
    const early: string[] = [];
    const elsewhere: string[] = [];
    const left: string[] = [];
    const seen = new Set<string>();
    for (const { url, open } of Object.values(await pageSamples(house.server))) {
      if (open) continue;
      await walk.to(url);
      early.push(...(await found(tab)).map((line) => `${url} ${line}`));
      if ((await press(tab, /^Show the current/)) > 0) await walk.quiet();
      if ((await press(tab, /^Show (?!the |what |\d)/)) === 0) continue;
      await walk.quiet();
      for (const line of await found(tab)) {
        const [name, place] = line.split(': ') as [string, string];
        seen.add(name);
        if (!SHOWN.includes(place)) elsewhere.push(`${url} ${line}`);
      }
      await press(tab, /^Hide /);
      if (!url.includes('/edit/')) left.push(...(await found(tab)).map((line) => `${url} ${line}`));
    }
    expect({ early, elsewhere, left }).toEqual({ early: [], elsewhere: [], left: [] });
    expect([...seen].sort()).toEqual(
      [...house.secrets.keys()].filter((name) => !/of the database|of a person|of the directory$|static role/.test(name)).sort(),
    );
    await walk.to('/');
    expect(await found(tab)).toEqual([]);
    await tab.close();
  }, 600_000);

  test.each([
    ['a secret', '/kv/secret/show/shop/database', []],
    ['a credential that was issued', '/database/db/static/report', [/^Show the current/]],
  ] as const)('leave %s when the page is locked because nobody is there', async (_what, url, first) => {
    const tab = await browser.tab(house.server.origin);
    await tab.page.clock.install();
    await tab.login(house.server.rootToken, url);
    const walk = new Walk(tab);
    await walk.quiet();
    for (const name of first) await press(tab, name);
    await walk.quiet();
    await press(tab, /^Show password/);
    expect(await found(tab)).not.toEqual([]);
    await tab.page.clock.setSystemTime(Date.now() + 15 * 60_000);
    await tab.page.getByRole('dialog').getByText('Locked').waitFor();
    expect(await found(tab)).toEqual([]);
    expect(await tab.places(house.server.rootToken)).toEqual([]);
    await tab.close();
  });
});
