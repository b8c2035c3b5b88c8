import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { buildHouse, type House } from './house.ts';
import { pagePatterns } from './page-patterns.ts';
import { pageSamples, type PageSample } from './page-samples.ts';

describeWhere(noChromium, 'every page', () => {
  let house: House;
  let browser: ConsoleBrowser;
  let member: Tab;
  let stranger: Tab;
  let samples: Readonly<Record<string, PageSample>>;

  beforeAll(async () => {
    [house, browser] = await Promise.all([buildHouse(), ConsoleBrowser.start()]);
    samples = await pageSamples(house.server);
    member = await browser.tab(house.server.origin);
    await member.login(house.server.rootToken);
    stranger = await browser.tab(house.server.origin);
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await house?.stop();
  });

  test('has a sample address here', () => {
    expect(pagePatterns().filter((pattern) => samples[pattern] === undefined)).toEqual([]);
  });

  describe.each(pagePatterns())('%s', (pattern) => {
    test('has no fault for axe in light, dark and narrow, breaks no policy, asks nobody else, fits, and is reached by keyboard', async () => {
      const { url, open = false } = samples[pattern]!;
      const tab = open ? stranger : member;
      tab.faults.length = 0;
      await tab.page.setViewportSize({ width: 1280, height: 800 });
      await tab.open(url);
      await tab.settled();
      await tab.dress('light');
      const unreached = await tab.beyondTheKeyboard();
      const light = await tab.violations();
      await tab.dress('dark');
      const dark = await tab.violations(['color-contrast']);
      await tab.page.setViewportSize({ width: 320, height: 700 });
      const narrow = await tab.violations(['color-contrast', 'target-size', 'scrollable-region-focusable']);
      expect({ light, dark, narrow, unreached, faults: tab.faults }).toEqual({
        light: [],
        dark: [],
        narrow: [],
        unreached: [],
        faults: [],
      });
      expect(await tab.widerThanWindow()).toEqual([]);
    });
  });
});
