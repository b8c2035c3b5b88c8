import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium } from './console-browser.ts';
import { buildHouse, type House } from './house.ts';

/** `npm run pictures` sets it: then the pictures of the documents are written again. */
const KEEP = process.env['STRONGROOM_PICTURES'] === 'keep';
const SMALLEST = 10_000;

const PICTURES = [
  { name: 'home', url: '/' },
  { name: 'home-narrow', url: '/', width: 390, height: 844 },
  { name: 'failing-rotation', url: '/database/db/static/gone' },
  { name: 'secret', url: '/kv/secret/show/shop/database' },
  { name: 'versions-dark', url: '/kv/secret/diff/shop/database?a=1&b=3', scheme: 'dark' },
  { name: 'library', url: '/ldap/ldap/library' },
  { name: 'plan', url: '/sync/aws-sm/prod/plan' },
  { name: 'try-a-path', url: '/access/try?path=secret%2Fdata%2Fshop%2Fdatabase&operation=read' },
  { name: 'leases', url: '/leases' },
] as const;

describeWhere(noChromium, 'the pictures of the documents', () => {
  const folder = KEEP
    ? fileURLToPath(new URL('../../../../docs/pictures', import.meta.url))
    : mkdtempSync(join(tmpdir(), 'strongroom-pictures-'));
  let house: House;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    [house, browser] = await Promise.all([buildHouse(), ConsoleBrowser.start()]);
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await house?.stop();
    if (!KEEP) rmSync(folder, { recursive: true, force: true });
  });

  test.each(PICTURES)('$name can be taken of a page without an error', async ({ name, url, ...look }) => {
    const tab = await browser.tab(house.server.origin, look);
    await tab.login(house.server.rootToken, url);
    await tab.settled();
    expect(await tab.page.getByRole('alert').count()).toBe(0);
    expect(tab.faults).toEqual([]);
    const file = join(folder, `${name}.png`);
    await tab.picture(file);
    expect(readFileSync(file).length).toBeGreaterThan(SMALLEST);
    await tab.close();
  });
});
