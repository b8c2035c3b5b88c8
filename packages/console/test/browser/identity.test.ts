import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';

describeWhere(noChromium, 'people and tokens in the console', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
    for (const name of ['ada', 'bob']) await server.set('POST', `identity/entity/name/${name}`, {});
    await server.set('POST', 'identity/group/name/leads', {});
    tab = await browser.tab(server.origin);
    await tab.login(server.rootToken, '/access/groups');
  }, 60_000);
  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });

  const idOf = async (what: 'entity' | 'group', name: string) =>
    (await server.set('GET', `identity/${what}/name/${name}`)).data.id as string;
  const group = async () => (await server.set('GET', 'identity/group/name/ops')).data;

  test('a group gets its members by their names, one by one, and loses them so', async () => {
    const { page } = tab;
    await page.getByRole('button', { name: 'New group' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('ops');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'ops' }).waitFor();
    for (const name of ['ada', 'bob']) {
      await page.getByRole('combobox', { name: 'Name of the entity' }).fill(name);
      await page.getByRole('button', { name: 'Add the entity' }).click();
      await page.getByRole('button', { name: `Take ${name} out` }).waitFor();
    }
    await page.getByRole('combobox', { name: 'Name of the group' }).fill('leads');
    await page.getByRole('button', { name: 'Add the group' }).click();
    await page.getByRole('button', { name: 'Take leads out' }).waitFor();
    await look(tab, 'group-members');
    expect(await group()).toMatchObject({
      member_entity_ids: expect.arrayContaining([await idOf('entity', 'ada'), await idOf('entity', 'bob')]),
      member_group_ids: [await idOf('group', 'leads')],
    });
    await page.getByRole('button', { name: 'Take ada out' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take ada out' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Take ada out' }).waitFor({ state: 'detached' });
    expect((await group()).member_entity_ids).toEqual([await idOf('entity', 'bob')]);
  });

  test('a name that nobody has is said, and changes nothing', async () => {
    await tab.page.getByRole('combobox', { name: 'Name of the entity' }).fill('nobody');
    await tab.page.getByRole('button', { name: 'Add the entity' }).click();
    await tab.page.getByText('There is no entity “nobody”.').waitFor();
    expect((await group()).member_entity_ids).toHaveLength(1);
  });

  test('a token that is made wrapped is never on the page', async () => {
    const { page } = tab;
    await tab.open('/access/new-token');
    await page.getByRole('textbox', { name: 'Display name' }).fill('deploy');
    await page.getByRole('textbox', { name: 'Policies' }).fill('default');
    await page.getByRole('combobox', { name: 'How it reaches its reader' }).selectOption('5m');
    await page.getByRole('button', { name: 'Make the token' }).click();
    const panel = page.getByRole('region', { name: 'Wrapped' });
    await panel.getByRole('button', { name: 'Copy link' }).click();
    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    const { auth } = await server.set('POST', 'sys/wrapping/unwrap', { token: link.hash.slice(1) });
    expect(await tab.places(auth!.client_token)).toEqual([]);
    const { data } = await server.set('POST', 'auth/token/lookup', { token: auth!.client_token });
    expect(data).toMatchObject({ display_name: 'token-deploy', policies: ['default'] });
    await panel.getByRole('button', { name: 'Done' }).click();
    await page.getByText('The link is on this page no longer').waitFor();
    expect(tab.faults.filter((fault) => !fault.includes('404'))).toEqual([]);
  });
});
