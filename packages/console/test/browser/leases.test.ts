import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere, findPostgres, startPostgres, type PostgresServer } from '@strongroom/lab';
import pg from 'pg';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';

const missing = noChromium ?? ((await findPostgres()) === undefined ? 'no PostgreSQL server is installed here' : undefined);
const CREATION = `CREATE ROLE "{{name}}" LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'; GRANT CREATE ON SCHEMA public TO "{{name}}";`;

/** Something leaked: from a path to its number of leases, their list, their end, and what is left over. */
describeWhere(missing, 'the leases below a path that leaked', () => {
  let postgres: PostgresServer;
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    [postgres, server, browser] = await Promise.all([startPostgres(), ConsoleServer.start(), ConsoleBrowser.start()]);
    await server.set('POST', 'sys/mounts/db', { type: 'database' });
    await server.set('POST', 'db/config/prod', {
      plugin_name: 'postgresql-database-plugin',
      connection_url: `postgresql://{{username}}:{{password}}@${postgres.host}:${postgres.port}/postgres`,
      ...{ username: postgres.superuser, password: postgres.password, allowed_roles: '*' },
    });
    for (const role of ['report', 'batch'])
      await server.set('POST', `db/roles/${role}`, { db_name: 'prod', creation_statements: CREATION, default_ttl: '1h', max_ttl: '4h' });
    for (let i = 0; i < 4; i += 1) await server.set('GET', 'db/creds/report');
    await server.set('GET', 'db/creds/batch');
    // This one owns a table: PostgreSQL will not drop it.
    const owner = (await server.set('GET', 'db/creds/report')).data as { username: string; password: string };
    const client = new pg.Client({
      host: postgres.host,
      port: postgres.port,
      database: 'postgres',
      user: owner.username,
      password: owner.password,
    });
    await client.connect();
    await client.query('CREATE TABLE public.kept (id integer)');
    await client.end();
    tab = await browser.tab(server.origin);
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
    await postgres?.stop();
  });

  const users = async () => (await postgres.query(`SELECT rolname FROM pg_roles WHERE rolname LIKE 'v-%'`)).length;

  test('paths are listed with the number of their leases, and lead down to one path', async () => {
    await tab.login(server.rootToken, '/leases');
    await tab.page.getByRole('link', { name: /^db\/\s*6$/ }).click();
    await tab.page.getByRole('link', { name: /^creds\/\s*6$/ }).click();
    await tab.page.getByRole('link', { name: /^report\/\s*5$/ }).click();
    await tab.page.getByText('5 leases below this path').waitFor();
    expect(new URL(tab.page.url()).searchParams.get('prefix')).toBe('db/creds/report');
    await look(tab, 'leases-prefix');
  });

  test('a bar of the timeline lists what ends in its time', async () => {
    await tab.page.getByText('Hour', { exact: false }).first().waitFor();
    await tab.page.getByRole('radio', { name: 'Next day' }).waitFor({ state: 'attached' });
    const bar = tab.page.getByRole('option', { name: /5 secrets, 0 tokens$/ });
    await bar.click();
    await tab.page
      .getByRole('rowheader', { name: /db\/creds\/report/ })
      .first()
      .waitFor();
    expect(await tab.page.getByRole('rowheader', { name: /db\/creds\/report/ }).count()).toBe(5);
    expect(tab.page.url()).toContain('at=');
    await bar.press('ArrowLeft');
    expect(await tab.page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(/0 secrets/);
    await tab.page.getByRole('button', { name: 'Table' }).click();
    await tab.page.getByRole('table', { name: 'Leases by their ends' }).waitFor();
    await tab.page.getByRole('button', { name: 'Table' }).click();
  });

  test('all are revoked after the path was typed, and the one that PostgreSQL keeps is named with its sentence', async () => {
    expect(await users()).toBe(6);
    await tab.page.getByRole('button', { name: 'Revoke all 5' }).click();
    const dialog = tab.page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Revoke all 5' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('db/creds/report');
    await dialog.getByRole('button', { name: 'Revoke all 5' }).click();
    await tab.page.getByText('4 of 5 are revoked. 1 not yet').waitFor();
    await tab.page
      .getByRole('table', { name: 'Cannot be revoked' })
      .getByText(/cannot be dropped/)
      .waitFor();
    await look(tab, 'leases-left');
    expect(await users()).toBe(2);
  });

  test('once its cause is gone, trying again ends it', async () => {
    await postgres.query('DROP TABLE public.kept');
    await tab.page.getByRole('table', { name: 'Cannot be revoked' }).getByRole('button', { name: 'Try now' }).click();
    await tab.page.getByText('Done: all 5 are revoked.').waitFor();
    expect(await users()).toBe(1);
  });

  test('one lease shows whom it was issued to, is renewed and is ended', async () => {
    await tab.open('/leases?prefix=db/creds/batch&span=day');
    await tab.page.getByRole('rowheader').getByRole('link').first().click();
    await tab.page.getByText('Issued to the token').waitFor();
    await look(tab, 'lease');
    await tab.page.getByRole('textbox', { name: 'Minutes from now' }).fill('120');
    await tab.page.getByRole('button', { name: 'Renew' }).click();
    await tab.page.getByText(/in 1 h 59 min/).waitFor();
    await tab.page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await tab.page.getByRole('heading', { level: 1, name: 'Leases' }).waitFor();
    expect(await users()).toBe(0);
    expect(tab.faults).toEqual([]);
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['light', 320],
  ] as const)('axe finds nothing in the %s at %i pixels', async (scheme, width) => {
    await server.set('GET', 'db/creds/batch');
    const own = await browser.tab(server.origin, { scheme, width });
    await own.login(server.rootToken, '/leases');
    await own.page
      .getByRole('option', { name: /secrets/ })
      .first()
      .waitFor();
    await own.page.getByRole('rowheader').first().waitFor();
    expect(await own.violations()).toEqual([]);
    expect(await own.widerThanWindow()).toEqual([]);
    await look(own, `leases-${scheme}-${width}`);
    expect(own.faults).toEqual([]);
    await own.close();
  });
});
