import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

const DEV = `# developers
path "secret/data/*" {
  capabilities = ["list"]
}
`;

describeWhere(noChromium, 'why may I not, and who may', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let developer: Tab;
  let operator: Tab;

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
    await server.set('POST', 'secret/data/shop/database', { data: { password: 'planted-in-the-shop' } });
    const token = await server.tokenWith('dev', DEV);
    await server.set('POST', 'auth/token/roles/shop', { allowed_policies: ['dev'] });
    developer = await browser.tab(server.origin);
    await developer.login(token, '/access/try');
    operator = await browser.tab(server.origin);
    await operator.login(server.rootToken, '/access/policies');
  }, 90_000);

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
    expect([...developer.faults, ...operator.faults]).toEqual([]);
  });

  test('a refusal says which rule of the token decides, what is missing, and leads to the page that tries paths', async () => {
    const { page } = developer;
    await developer.open('/access/policies/dev');
    const alert = page.getByRole('alert');
    await alert.getByText('Missing: read').waitFor();
    await alert.getByText('no rule matches "sys/policies/acl/dev"').waitFor();
    await alert.getByText('path "sys/policies/acl/dev" {').waitFor();
    await alert.getByRole('link', { name: 'Try this path' }).click();
    await page.getByRole('heading', { level: 1, name: 'Try a path' }).waitFor();
    await page.getByRole('region', { name: 'Answer' }).getByText('refused').waitFor();
  });

  test('a path is tried: the rule with its policy and line, and a block that would allow it', async () => {
    const { page } = developer;
    await page.getByRole('textbox', { name: 'Path' }).fill('secret/data/shop/database');
    await page.getByRole('button', { name: 'Try' }).click();
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByText('path "secret/data/*" of dev grants list, not read').waitFor();
    await answer.getByRole('link', { name: 'dev, line 2' }).waitFor();
    await answer.getByText('capabilities = ["list", "read"]').waitFor();
    expect(new URL(page.url()).searchParams.get('path')).toBe('secret/data/shop/database');
  });

  test('the operator edits the policy: a mistake is shown at its line, and the draft is tried before it is saved', async () => {
    const { page } = operator;
    await operator.open('/access/policies/dev?line=3');
    const editor = page.getByRole('textbox', { name: 'Policy dev' });
    await editor.getByText('# developers').waitFor();
    await page.waitForFunction(() => document.activeElement?.shadowRoot?.activeElement instanceof HTMLElement);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type(', "raed"');
    await page.getByRole('button', { name: 'error, line 3: path "secret/data/*": invalid capability "raed"' }).waitFor();
    for (let count = 0; count < 5; count += 1) await page.keyboard.press('Backspace');
    await page.keyboard.type('read"');
    await page.keyboard.press('Escape');
    await page.getByText('The server finds nothing wrong.').waitFor();
    await page.getByRole('textbox', { name: 'Path' }).fill('secret/data/shop/database');
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByText('path "secret/data/*" of dev grants read').waitFor();
    expect((await server.ask('GET', 'sys/policies/acl/dev')).data['policy']).toBe(DEV);
  });

  test('saving shows the difference first, and another save in between is not overwritten unseen', async () => {
    const { page } = operator;
    const other = DEV.replace('# developers', '# all developers');
    await server.set('POST', 'sys/policies/acl/dev', { policy: other });
    await page.getByRole('button', { name: 'Review and save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save dev' });
    await dialog.getByRole('row', { name: /added capabilities = \["list", "read"\]/ }).waitFor();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByText('Somebody else saved version 2 meanwhile.').waitFor();
    await dialog.getByRole('row', { name: /removed # all developers/ }).waitFor();
    expect((await server.ask('GET', 'sys/policies/acl/dev')).data['policy']).toBe(other);
    await dialog.getByRole('button', { name: 'Save over it' }).click();
    await page.getByText('Saved dev, version 3.').waitFor();
    await dialog.waitFor({ state: 'hidden' });
  });

  test('saving the text keeps until when the policy counts, and every other setting of it', async () => {
    const { page } = operator;
    const settings = {
      expiration: '2099-12-31T23:59:59.500Z',
      cas_required: true,
      allow_wildcards_in_identity_templates: true,
      allow_slashes_in_identity_templates: true,
    };
    await server.set('POST', 'sys/policies/acl/visitors', { policy: DEV, cas: -1, ...settings });
    await operator.open('/access/policies/visitors?line=1');
    await page.getByRole('textbox', { name: 'Policy visitors' }).getByText('# developers').waitFor();
    await page.waitForFunction(() => document.activeElement?.shadowRoot?.activeElement instanceof HTMLElement);
    await page.keyboard.press('End');
    await page.keyboard.type(' and visitors');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog', { name: 'Save visitors' }).getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved visitors, version 2.').waitFor();
    expect((await server.ask('GET', 'sys/policies/acl/visitors')).data).toMatchObject({
      policy: DEV.replace('# developers', '# developers and visitors'),
      version: 2,
      ...settings,
    });
  });

  test('now the developer may, and the page says so', async () => {
    const { page } = developer;
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByRole('region', { name: 'Answer' }).getByText('allowed').waitFor();
    expect(await developer.places('planted-in-the-shop')).toEqual([]);
  });

  test('who may: the policies with their lines, and who has them', async () => {
    const { page } = operator;
    await operator.open('/access/who');
    await page.getByRole('textbox', { name: 'Path' }).fill('secret/data/shop/database');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('row', { name: /dev allows dev, line 2/ }).waitFor();
    await page.getByRole('row', { name: /shop role of auth\/token\/ allows dev/ }).waitFor();
  });
});
