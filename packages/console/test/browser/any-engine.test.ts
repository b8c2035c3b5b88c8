import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';

/** The engine of the example, as somebody else would publish it. */
const DOORS = `
import { doorEngine } from ${JSON.stringify(new URL('../../../../examples/embed-in-express/dist/door-engine.js', import.meta.url).href)};
import { Doors } from ${JSON.stringify(new URL('../../../../examples/embed-in-express/dist/doors.js', import.meta.url).href)};
export const doors = doorEngine(new Doors(['front']));
`;

describeWhere(noChromium, 'an engine that nobody wrote pages for', () => {
  let folder: string;
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-doors-'));
    await mkdir(join(folder, 'doors'));
    await writeFile(
      join(folder, 'doors', 'package.json'),
      JSON.stringify({ name: 'doors', version: '1.0.0', type: 'module', main: 'index.js' }),
    );
    await writeFile(join(folder, 'doors', 'index.js'), DOORS);
    server = await ConsoleServer.start({ configuration: `plugin ${JSON.stringify(join(folder, 'doors', 'index.js'))} {}`, built: true });
    browser = await ConsoleBrowser.start();
    tab = await browser.tab(server.origin);
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  test('is enabled from the catalogue, and has lists, forms, credentials and an end', async () => {
    const { page } = tab;
    await tab.login(server.rootToken, '/mounts');
    await tab.settled();
    await look(tab, 'mounts');
    await page.getByRole('button', { name: 'Enable a secrets engine' }).click();
    await page.getByRole('combobox', { name: 'What' }).selectOption('door');
    await look(tab, 'enable');
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('heading', { name: 'door/', level: 1 }).waitFor();
    await tab.settled();
    await look(tab, 'mount');

    await page.getByRole('link', { name: 'What it offers' }).click();
    await page.getByRole('link', { name: 'roles', exact: true }).waitFor();
    await look(tab, 'engine');
    await page.getByRole('link', { name: 'roles', exact: true }).click();
    await page.getByRole('textbox', { name: /Name of a new one/ }).fill('visitor');
    await page.getByRole('button', { name: 'Create…' }).click();

    await page.getByRole('textbox', { name: /^Time to live/ }).fill('2h');
    await page.getByRole('textbox', { name: /^Max time to live/ }).fill('1h');
    await page.getByRole('textbox', { name: /^Door/ }).fill('front');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('ttl is longer than max_ttl').first().waitFor();
    await look(tab, 'refused');
    await page.getByRole('textbox', { name: /^Max time to live/ }).fill('4h');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('term').filter({ hasText: 'Door' }).waitFor();
    await look(tab, 'role');
    expect((await server.ask('GET', 'door/roles/visitor')).data).toEqual({ door: 'front', ttl: 7_200, max_ttl: 14_400 });

    await page.getByRole('link', { name: 'Makes a code' }).click();
    await page.getByRole('button', { name: 'Issue' }).click();
    await page.getByRole('heading', { name: 'Shown once' }).waitFor();
    await look(tab, 'issued');
    expect(await page.getByText('front', { exact: true }).count()).toBe(1);
    await page.getByRole('button', { name: 'End now' }).click();
    await page.getByText('It has ended').waitFor();

    await tab.open('/engine/door/roles/visitor');
    await page.getByRole('button', { name: 'Delete roles/visitor' }).click();
    await page.getByRole('textbox', { name: /Type/ }).fill('visitor');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete roles/visitor' }).click();
    await page.getByText('There is nothing in roles yet.').waitFor();
    expect(tab.faults).toEqual([]);
  });

  test('is called from the explorer of the API', async () => {
    const { page } = tab;
    await tab.login(server.rootToken, '/api');
    await page.getByRole('textbox', { name: 'Filter' }).fill('doors');
    await tab.settled();
    await look(tab, 'api');
    await tab.open('/api/sys/plugins/catalog/:type/:name');
    await tab.settled();
    await look(tab, 'operation');
    expect(tab.faults).toEqual([]);
  });

  test('is disabled by typing its name', async () => {
    const { page } = tab;
    await tab.login(server.rootToken, '/mounts/secret/door');
    await page.getByRole('button', { name: 'Disable door/' }).click();
    await page.getByRole('textbox', { name: /Type/ }).fill('door');
    await page.getByRole('dialog').getByRole('button', { name: 'Disable door/' }).click();
    await page.getByRole('heading', { name: 'Mounts', level: 1 }).waitFor();
    expect((await server.ask('GET', 'sys/mounts/door')).status).toBe(400);
  });
});
