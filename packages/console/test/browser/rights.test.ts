import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { offerOf, Presser, type HeldCall, type Offer } from './actions.ts';
import { ConsoleBrowser, noChromium } from './console-browser.ts';
import { buildHouse, type House } from './house.ts';
import { pageSamples } from './page-samples.ts';
import { Walk } from './walk.ts';

const RULES = {
  'the default policy alone': 'path "cubbyhole/none" { capabilities = ["read"] }',
  'secrets alone': ['secret', 'old']
    .map((mount) => `path "${mount}/*" { capabilities = ["create", "read", "update", "delete", "list"] }`)
    .join('\n'),
  'nothing to list': `
    path "secret/data/shop/*" { capabilities = ["read", "update"] }
    path "secret/metadata/shop/database" { capabilities = ["read"] }
    path "db/creds/reader" { capabilities = ["read"] }
    path "db/static-creds/report" { capabilities = ["read"] }
    path "ldap/library/batch/*" { capabilities = ["read", "update"] }
  `,
  'everything to read and nothing to write': 'path "*" { capabilities = ["read", "list", "sudo"] }',
};
type Holder = keyof typeof RULES;
const HOLDERS = Object.keys(RULES) as Holder[];

/** Loans are returned by those who have them; the home page shows what a token may see; the drafts of a form are those who typed them. */
const ITS_OWN = /^(Return |Try now$|Test these settings$)/;

/** Open to everybody, or of a name that nobody has typed yet. */
const OPEN = /^sys\/generate-root-token\/|\/x$/;

const CAPABILITIES: Readonly<Record<string, readonly string[]>> = {
  DELETE: ['delete'],
  PATCH: ['patch'],
  POST: ['create', 'update'],
  PUT: ['create', 'update'],
};

describeWhere(noChromium, 'the pages', () => {
  let house: House;
  let browser: ConsoleBrowser;
  let urls: string[];
  const ofRoot = new Map<string, Offer>();
  /** What each action of each page calls, by address and label. */
  const calls = new Map<string, ReadonlyMap<string, readonly HeldCall[]>>();
  const offers = new Map<Holder, Map<string, Offer>>();
  const tokens = new Map<Holder, string>();

  const walkWith = async (token: string): Promise<Walk> => {
    const tab = await browser.tab(house.server.origin);
    await tab.login(token);
    return new Walk(tab);
  };
  /** Reads what the pages offer to a root token, and presses it. Several tabs share the pages that are left. */
  const asRoot = async (left: Iterator<string>): Promise<void> => {
    const walk = await walkWith(house.server.rootToken);
    const presser = await Presser.on(walk, house.server.rootToken);
    for (let next = left.next(); !next.done; next = left.next()) {
      const url = next.value;
      await walk.to(url);
      const offer = await offerOf(walk.tab.page);
      ofRoot.set(url, offer);
      calls.set(url, await presser.calls(url, offer));
    }
    await walk.tab.close();
  };
  const asOthers = async (): Promise<void> => {
    for (const holder of HOLDERS) {
      const token = await house.server.tokenWith(`walk-${holder.replaceAll(' ', '-')}`, RULES[holder]);
      const walk = await walkWith(token);
      const found = new Map<string, Offer>();
      for (const url of urls) {
        await walk.to(url);
        found.set(url, await offerOf(walk.tab.page));
      }
      tokens.set(holder, token);
      offers.set(holder, found);
      await walk.tab.close();
    }
  };

  beforeAll(async () => {
    [house, browser] = await Promise.all([buildHouse(), ConsoleBrowser.start()]);
    urls = Object.values(await pageSamples(house.server)).flatMap(({ url, open }) => (open ? [] : [url]));
    const left = urls.values();
    await Promise.all([asRoot(left), asOthers().then(async () => asRoot(left))]);
  }, 400_000);

  afterAll(async () => {
    await browser?.stop();
    await house?.stop();
  });

  /** What the token may do at each of these paths. */
  const capabilities = async (holder: Holder, paths: readonly string[]): Promise<Record<string, string[]>> =>
    (await house.server.ask('POST', 'sys/capabilities-self', { paths: [...new Set(paths)] }, tokens.get(holder))).data as Record<
      string,
      string[]
    >;

  test('offer everything to a root token, and their actions were pressed', () => {
    expect([...ofRoot].filter(([, { actions }]) => actions.some(({ missing }) => missing !== undefined))).toEqual([]);
    const pressed = [...calls.values()].flatMap((ofPage) => [...ofPage.values()]);
    expect(pressed.filter((made) => made.length > 0).length).toBeGreaterThan(50);
  });

  describe.each(HOLDERS)('for a token with %s', (holder) => {
    test('say of every refusal which rule decides', () => {
      const unexplained = [...offers.get(holder)!].flatMap(([url, offer]) => offer.unexplained.map((alert) => `${url}: ${alert}`));
      expect(unexplained).toEqual([]);
    });

    test('offer nothing that ends in a refusal', async () => {
      const made = [...offers.get(holder)!].flatMap(([url, { actions }]) =>
        actions.flatMap(({ label, missing }) =>
          missing === undefined ? (calls.get(url)?.get(label) ?? []).map((call) => ({ url, label, ...call })) : [],
        ),
      );
      const may = await capabilities(
        holder,
        made.map(({ path }) => path),
      );
      const open = made.filter(({ method, path }) => !OPEN.test(path) && !CAPABILITIES[method]!.some((one) => may[path]!.includes(one)));
      expect(open.map(({ url, label, method, path }) => `${url} “${label}”: ${method} ${path}`)).toEqual([]);
    });

    test('keep no action back that the token may do, and drop none without a word', async () => {
      const gone = [...offers.get(holder)!].flatMap(([url, { actions, refuses }]) => {
        const here = new Set(actions.map(({ label }) => label));
        const lost = ofRoot.get(url)!.actions.filter(({ label }) => !here.has(label) && !ITS_OWN.test(label));
        return refuses ? [] : lost.map(({ label }) => `${url}: ${label}`);
      });
      expect(gone).toEqual([]);
      const greys = [...offers.get(holder)!].flatMap(([url, { actions }]) =>
        actions.flatMap(({ label, missing }) =>
          missing ? [{ url, label, missing, path: missing.split(' on ').slice(1).join(' on ') }] : [],
        ),
      );
      const may = await capabilities(
        holder,
        greys.map(({ path }) => path),
      );
      const kept = greys.filter(({ missing, path }) => {
        const [needed, sudo] = missing.split(' on ')[0]!.split(' and ');
        return needed!.split(' or ').some((one) => may[path]!.includes(one)) && (sudo === undefined || may[path]!.includes(sudo));
      });
      expect(kept).toEqual([]);
    });
  });
});
