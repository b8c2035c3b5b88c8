import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

/** `npm run bench:console` sets it. */
const WANTED = process.env['STRONGROOM_FIGURES'] === 'print';
const ROUNDS = 9;
const SLOWER = 4;
const BYTES_PER_SECOND = 10_000_000 / 8;
const ROUND_TRIP = 40;

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)]!;

/** Figures for docs/console.md. They are printed, and not judged: machines differ. */
describeWhere(noChromium ?? (WANTED ? undefined : 'run `npm run bench:console`'), 'the first page', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  const figures: Record<string, string> = {};

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
  });
  afterAll(async () => {
    console.log(JSON.stringify(figures, undefined, 2));
    await browser?.stop();
    await server?.stop();
  });

  const firstPaint = async (tab: Tab): Promise<number> => {
    await tab.page.getByRole('textbox', { name: 'Token' }).waitFor();
    return tab.page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]!.startTime);
  };
  const each = async (name: string, measure: () => Promise<number>): Promise<void> => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push(await measure());
    figures[name] =
      `median ${Math.round(median(times))} ms, fastest ${Math.round(Math.min(...times))} ms, slowest ${Math.round(Math.max(...times))} ms`;
    expect(times.every((time) => time > 0)).toBe(true);
  };

  test.each([
    ['first contentful paint, login', undefined],
    ['first contentful paint, login, slow computer and line', SLOWER],
  ] as const)(
    '%s',
    async (name, slower) => {
      await each(name, async () => {
        const tab = await browser.tab(server.origin);
        if (slower !== undefined) await tab.slowDown(slower, { bytesPerSecond: BYTES_PER_SECOND, roundTrip: ROUND_TRIP });
        await tab.page.goto('/ui/login');
        const time = await firstPaint(tab);
        await tab.close();
        return time;
      });
    },
    300_000,
  );

  test('first contentful paint, login, reload', async () => {
    const tab = await browser.tab(server.origin);
    await tab.page.goto('/ui/login');
    await each('first contentful paint, login, reload', async () => {
      await tab.page.reload();
      return firstPaint(tab);
    });
    await tab.close();
  }, 300_000);

  test('login to home with its plots', async () => {
    await each('login to home with its plots', async () => {
      const tab = await browser.tab(server.origin);
      await tab.page.goto('/ui/login');
      await tab.page.getByRole('textbox', { name: 'Token' }).fill(server.rootToken);
      await tab.page.evaluate(() => {
        const drawn = new Promise<number>((resolve) => {
          new MutationObserver((_changes, observer) => {
            if (document.querySelector('#attention') === null || document.querySelector('#page canvas') === null) return;
            observer.disconnect();
            requestAnimationFrame(() => resolve(performance.now()));
          }).observe(document.documentElement, { childList: true, subtree: true });
        });
        Object.assign(window, { pressed: performance.now(), drawn });
        document.querySelector<HTMLButtonElement>('button[type="submit"]')!.click();
      });
      const time = await tab.page.evaluate(async () => {
        const { pressed, drawn } = window as unknown as { pressed: number; drawn: Promise<number> };
        return (await drawn) - pressed;
      });
      await tab.close();
      return time;
    });
  }, 300_000);
});
