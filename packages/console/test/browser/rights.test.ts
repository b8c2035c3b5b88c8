import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { LOOKS, offerOf, Presser, type Offer } from './actions.ts';
import { ConsoleBrowser, noChromium } from './console-browser.ts';
import { buildHouse, type House } from './house.ts';
import { pageSamples } from './page-samples.ts';
import { Walk } from './walk.ts';

const KV = ['secret', 'old'].map((mount) => `path "${mount}/*" { capabilities = ["create", "read", "update", "delete", "list"] }`);
const LISTLESS = `
  path "secret/data/shop/*" { capabilities = ["read", "update"] }
  path "secret/metadata/shop/database" { capabilities = ["read"] }
  path "db/creds/reader" { capabilities = ["read"] }
  path "db/static-creds/report" { capabilities = ["read"] }
  path "ldap/library/batch/*" { capabilities = ["read", "update"] }
`;
const RULES = {
  'the default policy alone': 'path "cubbyhole/*" { capabilities = ["read"] }',
  'secrets alone': KV.join('\n'),
  'nothing to list': LISTLESS,
  'everything to read and nothing to write': 'path "*" { capabilities = ["read", "list"] }',
};
type Holder = keyof typeof RULES;
/** Whose actions are pressed: those of the others are among them. */
const PRESSED: readonly Holder[] = ['nothing to list', 'everything to read and nothing to write'];

/** Loans are returned by those who have them; the home page shows what a token may see. */
const ITS_OWN = /^(Return |Try now$)/;

describeWhere(noChromium, 'the pages', () => {
  let house: House;
  let browser: ConsoleBrowser;
  let urls: string[];
  const ofRoot = new Map<string, Offer>();

  beforeAll(async () => {
    [house, browser] = await Promise.all([buildHouse(), ConsoleBrowser.start()]);
    urls = Object.values(await pageSamples(house.server)).flatMap(({ url, open }) => (open ? [] : [url]));
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await house?.stop();
  });

  const walkWith = async (token: string): Promise<Walk> => {
    const tab = await browser.tab(house.server.origin);
    await tab.login(token);
    return new Walk(tab);
  };

  test('offer everything to a root token', async () => {
    const walk = await walkWith(house.server.rootToken);
    for (const url of urls) {
      await walk.to(url);
      ofRoot.set(url, await offerOf(walk.tab.page));
    }
    expect([...ofRoot].filter(([, { actions }]) => actions.some(({ missing }) => missing !== undefined))).toEqual([]);
    await walk.tab.close();
  }, 90_000);

  describe.each(Object.keys(RULES) as Holder[])('for a token with %s', (holder) => {
    let token: string;
    const offers = new Map<string, Offer>();
    const pressed: string[] = [];

    beforeAll(async () => {
      token = await house.server.tokenWith(`walk-${holder.replaceAll(' ', '-')}`, RULES[holder]);
      const walk = await walkWith(token);
      const ask = async (path: string, operation: string) =>
        house.server.ask('POST', 'sys/policies/explain-self', { path, operation }, token);
      const presser = new Presser(walk, ask);
      await presser.start();
      for (const url of urls) {
        await walk.to(url);
        const offer = await offerOf(walk.tab.page);
        offers.set(url, offer);
        if (PRESSED.includes(holder)) pressed.push(...(await presser.refused(url, offer)));
      }
      await walk.tab.close();
    }, 180_000);

    test('say of every refusal which rule decides', () => {
      const unexplained = [...offers].flatMap(([url, offer]) => offer.unexplained.map((alert) => `${url}: ${alert}`));
      expect(unexplained).toEqual([]);
    });

    test('keep no action back that the token may do, and drop none without a word', async () => {
      const gone = [...offers].flatMap(([url, { actions, refuses }]) => {
        const here = new Set(actions.map(({ label }) => label));
        const lost = ofRoot.get(url)!.actions.filter(({ label }) => !here.has(label) && !ITS_OWN.test(label) && !LOOKS.test(label));
        return refuses ? [] : lost.map(({ label }) => `${url}: ${label}`);
      });
      expect(gone).toEqual([]);
      const greys = [...offers].flatMap(([url, { actions }]) => actions.flatMap(({ missing }) => (missing ? [{ url, missing }] : [])));
      const paths = greys.map(({ missing }) => missing.split(' on ').slice(1).join(' on '));
      const { data } = await house.server.ask('POST', 'sys/capabilities-self', { paths }, token);
      const wrong = greys.filter(({ missing }, at) => {
        const capabilities = data[paths[at]!] as string[];
        const [needed, sudo] = missing.split(' on ')[0]!.split(' and ');
        return needed!.split(' or ').some((one) => capabilities.includes(one)) && (sudo === undefined || capabilities.includes(sudo));
      });
      expect(wrong).toEqual([]);
    });

    test('offer nothing that ends in a refusal', () => {
      expect(pressed).toEqual([]);
    });
  });
});
