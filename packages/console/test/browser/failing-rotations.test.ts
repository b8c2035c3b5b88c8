import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere, startPostgres, type PostgresServer } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';

const ROLES = Array.from({ length: 8 }, (_, at) => `service${at}`);
const OPERATOR = `
  path "db/*" { capabilities = ["create", "read", "update", "list"] }
  path "sys/internal/ui/*" { capabilities = ["read"] }
  path "sys/circuits/reset" { capabilities = ["update", "sudo"] }
`;

describeWhere(noChromium, 'rotations that fail', () => {
  let postgres: PostgresServer;
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  const connect = async (password: string): Promise<void> => {
    await server.set('POST', 'db/config/prod', {
      plugin_name: 'postgresql-database-plugin',
      connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${postgres.port}/postgres`,
      username: 'rotator',
      password,
      allowed_roles: '*',
    });
  };

  const rotateEvery = async (period: string): Promise<void> => {
    for (const username of ROLES)
      await server.set('POST', `db/static-roles/${username}`, { db_name: 'prod', username, rotation_period: period });
  };

  beforeAll(async () => {
    [postgres, server, browser] = await Promise.all([startPostgres(), ConsoleServer.start(), ConsoleBrowser.start()]);
    await postgres.query(`CREATE ROLE rotator LOGIN SUPERUSER PASSWORD 'first'`);
    for (const name of ROLES) await postgres.query(`CREATE ROLE ${name} LOGIN PASSWORD 'before'`);
    await server.set('POST', 'sys/mounts/db', { type: 'database' });
    await connect('first');
    for (const username of ROLES)
      await server.set('POST', `db/static-roles/${username}`, { db_name: 'prod', username, rotation_period: '24h' });
    tab = await browser.tab(server.origin);
    await tab.login(await server.tokenWith('operator', OPERATOR));
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
    await postgres?.stop();
  });

  test('nothing needs a person while all is well', async () => {
    await tab.page.getByRole('heading', { name: 'Nothing needs a person' }).waitFor();
    await tab.page.getByText('All that this token may see works.').waitFor();
  });

  test('a database that stops is one row with its cause, its sentence and a button, and goes when the database is back', async () => {
    await rotateEvery('5s');
    await postgres.halt();
    const row = tab.page.getByRole('listitem').filter({ hasText: 'connection prod' }).first();
    await row.getByRole('heading', { name: /8 static roles are not rotated/ }).waitFor();
    expect(await tab.page.getByRole('heading', { level: 2 }).first().textContent()).toBe('1 thing needs a person');
    expect(await row.textContent()).toMatch(/ECONNREFUSED|terminat|closed/s);
    expect(await row.getByRole('img', { name: 'critical' }).count()).toBe(1);
    await row.locator('summary').click();
    await row.getByRole('link', { name: 'static role service7' }).waitFor();
    expect(await tab.violations()).toEqual([]);

    await postgres.restart();
    await rotateEvery('24h');
    await row.getByRole('button', { name: /Reset circuit|Try all now/ }).click();
    await tab.page.getByRole('heading', { name: 'Nothing needs a person' }).waitFor();
    expect(tab.faults).toEqual([]);
  });

  test('a password that was changed behind the server is described by its sentence and its tries, and repaired', async () => {
    await postgres.query(`ALTER ROLE rotator PASSWORD 'changed'`);
    await postgres.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotator'`);
    for (let count = 0; count < 2; count += 1) await server.ask('POST', 'db/rotate-role/service1');
    await tab.open('/');
    await tab.page.getByRole('link', { name: 'static role service1 is not rotated' }).waitFor();
    await tab.open('/work/job?mount=db/&kind=rotate-static-role&id=service1');
    const box = tab.page.getByRole('region', { name: 'How it stands' });
    await box.getByText('failing', { exact: true }).waitFor();
    await box.getByText(/“.*password authentication failed for user "rotator"/).waitFor();
    const tries = box.getByRole('radio', { name: /^Failed .* UTC, took/ });
    expect(await tries.count()).toBeGreaterThanOrEqual(2);
    await tries.last().focus();
    await tab.page.keyboard.press('ArrowLeft');
    expect(await box.getByRole('radio', { checked: true }).evaluate((one) => one === document.activeElement)).toBe(true);

    await box.getByText(/The stored credential is not accepted/).waitFor();
    expect(await box.getByRole('link', { name: 'Open connection prod' }).getAttribute('href')).toBe('/ui/database/db/connections/prod');
    expect(await tab.violations()).toEqual([]);

    await box.getByRole('button', { name: 'Try now' }).click();
    await tab.page
      .getByRole('alert')
      .getByText(/password authentication failed/)
      .first()
      .waitFor();
    expect(await tab.page.getByRole('alert').textContent()).toMatch(/request [0-9a-f-]{36}/);

    const { page } = tab;
    await box.getByRole('link', { name: 'Open connection prod' }).click();
    await page.getByRole('heading', { level: 1, name: 'prod' }).waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Password', { exact: true }).fill('changed');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('The database accepts the login').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'prod', exact: true }).waitFor();
    await tab.open('/work/job?mount=db/&kind=rotate-static-role&id=service1');
    await box.getByRole('button', { name: 'Try now' }).click();
    await box.getByText('in order', { exact: true }).waitFor();
    await box
      .getByRole('radio', { name: /^Succeeded/ })
      .last()
      .waitFor();
    await tab.open('/');
    await tab.page.getByRole('heading', { name: 'Nothing needs a person' }).waitFor();
    expect(tab.faults).toEqual([]);
  });

  test('a change outside that is neither done nor undone has a page that says what may be left, and why it is not tried again yet', async () => {
    const slow = `CREATE ROLE "{{name}}" LOGIN PASSWORD '{{password}}'; SELECT pg_sleep(60)`;
    await server.set('POST', 'db/roles/slow', { db_name: 'prod', creation_statements: slow });
    const asked = server.ask('GET', 'db/creds/slow');
    const begun = `SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()`;
    while ((await postgres.query(begun)).length === 0);
    await postgres.halt();
    expect((await asked).status).toBeGreaterThanOrEqual(500);
    const root = await browser.tab(server.origin);
    await root.login(server.rootToken, '/work?show=changes');
    const { page } = root;
    const name = /v-root-slow-/;
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name: 'Outside change' }).waitFor();
    await page.getByText(name).first().waitFor();
    await page.getByText('not finished', { exact: true }).waitFor();
    expect(await root.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Try now' }).click();
    await page
      .getByRole('alert')
      .getByText(/under way/)
      .waitFor();
    await look(root, 'change');
    await postgres.restart();
    expect(root.faults).toEqual([]);
    await root.close();
  });
});
