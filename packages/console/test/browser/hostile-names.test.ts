import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { toUrl } from '../../web/api/names-in-urls.ts';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';
import { Walk } from './walk.ts';

/** Names that people give to harm others, or because they can. */
const NAMES = [`<img src=x onerror="hit()"><script>hit()</script>"'> \u202Egnp.drowssap שלום 👩‍👩‍👧‍👦{{7*7}}\${7*7}`, 'w'.repeat(300)];
const KV = ['secret/data/$', { data: { $: 'x', nested: { $: '1' } } }] as const;

/** Where a name can stand: a write with `$` for the name, and the pages that show it. */
const THINGS: readonly { readonly write: readonly [path: string, body: unknown]; readonly pages: readonly string[] }[] = [
  { write: KV, pages: ['/kv/secret/show/$', '/kv/secret/edit/$', '/kv/secret/list/'] },
  { write: ['secret/metadata/$', { custom_metadata: { owner: '$' } }], pages: ['/kv/secret/show/$?tab=metadata'] },
  { write: ['sys/mounts/team', { type: 'kv', description: '$' }], pages: ['/mounts', '/kv', '/mounts/secret/team'] },
  {
    write: ['sys/policies/acl/$', { policy: 'path "x" {\n  capabilities = ["read"]\n}\n# $' }],
    pages: ['/access/policies', '/access/policies/$'],
  },
  { write: ['identity/entity', { name: '$', metadata: { team: '$' } }], pages: ['/access/entities', '/access/entities/{id}'] },
  { write: ['identity/group', { name: '$', metadata: { team: '$' } }], pages: ['/access/groups', '/access/groups/{id}'] },
  { write: ['auth/userpass/users/$', { password: 'of-the-tests' }], pages: ['/auth/userpass/list/users', '/auth/userpass/users/$'] },
  { write: ['auth/approle/role/$', { token_ttl: '1h' }], pages: ['/auth/approle/list/role', '/auth/approle/role/$'] },
  { write: ['auth/token/roles/$', { path_suffix: 'x' }], pages: ['/access/token-roles', '/access/token-roles/$'] },
  { write: ['auth/token/create', { display_name: '$', meta: { who: '$' } }], pages: ['/access/tokens', '/access/tokens/{accessor}'] },
  {
    write: ['sys/policies/password/$', { policy: 'length = 20\nrule "charset" {\n  charset = "abc"\n}' }],
    pages: ['/access/password-policies', '/access/password-policies/$'],
  },
  {
    write: ['db/roles/$', { db_name: 'none', creation_statements: 'CREATE $' }],
    pages: ['/database/db?tab=roles', '/database/db/roles/$'],
  },
];

describeWhere(noChromium, 'names that people give to harm others', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;
  let walk: Walk;

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
    for (const type of ['userpass', 'approle']) await server.set('POST', `sys/auth/${type}`, { type });
    await server.set('POST', 'sys/mounts/db', { type: 'database' });
    tab = await browser.tab(server.origin);
    await tab.login(server.rootToken);
    walk = new Walk(tab);
  }, 60_000);
  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });

  /** Writes the thing under this name. @returns the pages that show it; none where the server refuses the name */
  const written = async ({ write: [path, body], pages }: (typeof THINGS)[number], name: string): Promise<string[]> => {
    const filled = JSON.parse(JSON.stringify(body), (_key, value: unknown) => {
      if (typeof value === 'string') return value.replaceAll('$', () => name);
      if (typeof value !== 'object' || value === null || !('$' in value)) return value;
      const { $: inner, ...others } = value as Record<string, unknown>;
      return { ...others, [name]: inner };
    }) as unknown;
    if (path === 'sys/mounts/team') await server.ask('DELETE', path);
    const { status, data, auth } = await server.ask(
      'POST',
      path.replace('$', () => encodeURIComponent(name)),
      filled,
    );
    if (status >= 300) return [];
    return pages.map((page) =>
      page
        .replace('$', () => (page.startsWith('/kv/') ? name.split('/') : [name]).map((part) => encodeURIComponent(toUrl(part))).join('/'))
        .replace('{id}', () => String(data['id']))
        .replace('{accessor}', () => auth?.accessor ?? ''),
    );
  };

  test.each(NAMES.map((name) => [name.slice(0, 24), name] as const))(
    'stay text, and inside the page: %s',
    async (_shown, name) => {
      const wrong: string[] = [];
      let seen = 0;
      for (const [at, thing] of THINGS.entries()) {
        for (const url of await written(thing, name)) {
          await tab.page.setViewportSize({ width: 1280, height: 800 });
          await walk.to(url);
          seen += 1;
          const found = await tab.page.evaluate(() => ({
            title: document.querySelector('h1')!.textContent,
            injected: document.querySelectorAll('#page img, #page script, #page iframe, #page style').length,
            alerts: [...document.querySelectorAll<HTMLElement>('#page [role="alert"]')].map(({ innerText }) => innerText),
          }));
          if (/^This page|no such page/.test(found.title)) wrong.push(`${url.slice(0, 60)}: ${found.title}`);
          if (found.injected > 0) wrong.push(`${url.slice(0, 60)}: ${found.injected} elements`);
          wrong.push(...found.alerts.map((alert) => `${url.slice(0, 60)}: ${alert.replaceAll('\n', ' ').slice(0, 200)}`));
          wrong.push(...(await tab.widerThanWindow()).map((one) => `${url.slice(0, 60)} at 1280: ${one}`));
          await tab.page.setViewportSize({ width: 320, height: 700 });
          wrong.push(...(await tab.widerThanWindow()).map((one) => `${url.slice(0, 60)} at 320: ${one}`));
          if (at < 6) await look(tab, `hostile-${NAMES.indexOf(name)}-${at}-${seen}`);
        }
      }
      expect(wrong).toEqual([]);
      expect(tab.faults).toEqual([]);
      expect(seen).toBeGreaterThan(8);
    },
    120_000,
  );
});
