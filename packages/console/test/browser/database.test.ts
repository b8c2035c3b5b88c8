import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere, findPostgres, startPostgres, type PostgresServer } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';

const missing = noChromium ?? ((await findPostgres()) === undefined ? 'no PostgreSQL server is installed here' : undefined);
const CREATION = `CREATE ROLE "{{name}}" LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`;
const DEVELOPER = `
path "db/creds/report" { capabilities = ["read"] }
path "db/roles/report" { capabilities = ["read"] }
path "sys/leases/renew" { capabilities = ["update"] }
path "sys/leases/revoke" { capabilities = ["update"] }
path "sys/capabilities-self" { capabilities = ["update"] }
`;

describeWhere(missing, 'databases in the console', () => {
  let postgres: PostgresServer;
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    [postgres, server, browser] = await Promise.all([startPostgres(), ConsoleServer.start(), ConsoleBrowser.start()]);
    await server.set('POST', 'sys/mounts/db', { type: 'database' });
    tab = await browser.tab(server.origin);
    await tab.login(server.rootToken, '/database');
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
    await postgres?.stop();
  });

  const users = async () => (await postgres.query(`SELECT rolname FROM pg_roles WHERE rolname LIKE 'v-%'`)).length;
  const url = (): string => `postgresql://{{username}}:{{password}}@${postgres.host}:${postgres.port}/postgres`;

  test('a connection is tried stage by stage before it is stored, and the database says what is wrong', async () => {
    const { page } = tab;
    await page.getByRole('link', { name: 'db/' }).click();
    await page.getByRole('button', { name: 'New connection' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('prod');
    await page.getByRole('textbox', { name: 'Connection URL' }).fill(url());
    await page.getByRole('textbox', { name: 'Username', exact: true }).fill(postgres.superuser);
    await page.getByLabel('Password', { exact: true }).fill('not-the-password');
    await page.getByRole('textbox', { name: 'Allowed roles' }).fill('*');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const stages = page.getByRole('list', { name: 'Stages' });
    await stages.getByText(/password authentication failed/).waitFor();
    expect(await stages.getByRole('listitem').allInnerTexts()).toHaveLength(3);
    await page.getByLabel('Password', { exact: true }).fill(postgres.password);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await stages.getByText(/password authentication failed/).waitFor({ state: 'detached' });
    await stages.getByText('The database accepts the login').waitFor();
    await look(tab, 'connection-new');
    expect((await server.ask('GET', 'db/config/prod')).status).toBe(404);
    await page.getByRole('button', { name: 'Create connection' }).click();
    await page.getByRole('heading', { level: 1, name: 'prod' }).waitFor();
    await page.getByText('ready').waitFor();
    await look(tab, 'connection');
    expect(await tab.places(postgres.password)).toEqual([]);
  });

  test('a role shows what its statements would do before it is stored', async () => {
    const { page } = tab;
    await tab.open('/database/db/edit/roles');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('report');
    await page.getByRole('textbox', { name: 'Connection', exact: true }).fill('prod');
    await page.getByRole('textbox', { name: 'Creation statements' }).fill(CREATION);
    await page.getByRole('textbox', { name: 'Default time to live' }).fill('1h');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText(/CREATE ROLE "v-/).waitFor();
    await look(tab, 'role-new');
    await page.getByRole('button', { name: 'Create role' }).click();
    await page.getByRole('heading', { level: 1, name: 'report' }).waitFor();
    expect(await users()).toBe(0);
  });

  test('a developer borrows a user, sees how long it lasts, looks at the password once, and ends it', async () => {
    const developer = await server.tokenWith('developer', DEVELOPER);
    const own = await browser.tab(server.origin);
    await own.login(developer, '/database/db/roles/report');
    const { page } = own;
    await page.getByRole('button', { name: 'Borrow a user' }).click();
    const panel = page.getByRole('region', { name: 'Shown once' });
    await panel.getByText(/59 min .* left|1 h left/).waitFor();
    expect(await users()).toBe(1);
    const username = (await panel.getByText(/^v-/).innerText()).trim();
    await panel.getByRole('button', { name: 'Copy password' }).click();
    const password = await page.evaluate(() => navigator.clipboard.readText());
    expect(await postgres.login(username, password)).toBe(username);
    expect(await own.places(password)).toEqual([]);
    await panel.getByRole('button', { name: 'Show password' }).click();
    expect(await own.places(password)).toEqual(['document']);
    await look(own, 'issued');
    await panel.getByRole('button', { name: 'Hide password' }).click();
    expect(await own.places(password)).toEqual([]);
    await panel.getByRole('button', { name: 'Renew' }).click();
    await panel.getByRole('button', { name: 'End now' }).click();
    await page.getByText('It has ended').waitFor();
    expect(await users()).toBe(0);
    expect(own.faults).toEqual([]);
    await own.close();
  });

  test('a credential that is left behind leaves the page with it, and one that is wrapped never comes here', async () => {
    const { page } = tab;
    await tab.open('/database/db/roles/report');
    await page.getByRole('button', { name: 'Wrap instead' }).click();
    const panel = page.getByRole('region', { name: 'Wrapped' });
    await panel.getByRole('button', { name: 'Copy link' }).click();
    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    expect(link.pathname).toBe('/ui/tools/unwrap');
    const { data } = await server.set('POST', 'sys/wrapping/unwrap', { token: link.hash.slice(1) });
    expect(await tab.places(data.password as string)).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Borrow a user' }).click();
    await page.getByRole('button', { name: 'Show password' }).click();
    const shown = await page.getByRole('region', { name: 'Shown once' }).locator('code').first().innerText();
    await page.getByRole('link', { name: 'Roles' }).click();
    await page.getByRole('navigation', { name: 'What the mount has' }).getByRole('link', { name: 'Roles', exact: true }).waitFor();
    expect(await tab.places(shown)).toEqual([]);
  });

  test('a pair of users is made by the form, and its page shows both and hands out the second', async () => {
    const { page } = tab;
    await postgres.query(`CREATE ROLE turn_a LOGIN PASSWORD 'before'; CREATE ROLE turn_b LOGIN`);
    await tab.open('/database/db/edit/static');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('turns');
    await page.getByRole('textbox', { name: 'Connection', exact: true }).fill('prod');
    await page.getByRole('textbox', { name: 'Usernames' }).fill('turn_a\nturn_b');
    await page.getByRole('textbox', { name: 'Rotation period' }).fill('24h');
    await page.getByRole('button', { name: 'Create static role' }).click();
    await page.getByText('turn_a, turn_b').waitFor();
    await page.getByRole('button', { name: 'Show the current credential' }).click();
    await page.getByText('turn_b', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Copy password' }).click();
    const password = await page.evaluate(() => navigator.clipboard.readText());
    expect(await postgres.login('turn_b', password)).toBe('turn_b');
    await look(tab, 'static-pair');
    expect(tab.faults).toEqual([]);
  });

  test('a static role that fails shows the sentence of the database, and works again once the user is there', async () => {
    const { page } = tab;
    await postgres.query(`CREATE ROLE billing LOGIN PASSWORD 'before'`);
    await server.set('POST', 'db/static-roles/billing', { db_name: 'prod', username: 'billing', rotation_period: '24h' });
    await postgres.query('ALTER ROLE billing RENAME TO elsewhere');
    await server.ask('POST', 'db/rotate-role/billing');
    await tab.open('/database/db?tab=failing');
    await page.getByRole('link', { name: 'static role billing' }).click();
    await page
      .getByText(/does not exist/)
      .first()
      .waitFor();
    await look(tab, 'static-failing');
    await postgres.query('ALTER ROLE elsewhere RENAME TO billing');
    await page.getByRole('button', { name: 'Try now' }).click();
    await page.getByRole('status').filter({ hasText: 'It succeeded.' }).waitFor();
    await page.getByRole('button', { name: 'Show the current credential' }).click();
    await page.getByRole('button', { name: 'Copy password' }).click();
    const password = await page.evaluate(() => navigator.clipboard.readText());
    expect(await postgres.login('billing', password)).toBe('billing');
    expect(tab.faults).toEqual([]);
  });
});
