import type { Request } from 'playwright-core';
import type { Tab } from './console-browser.ts';

const EVENTS = '/v1/sys/events';
/** A page that has called nothing for so long has read what it reads. Milliseconds. */
const QUIET = 50;
const PATIENCE = 10_000;
const IDLE = 500;

/** Goes through many pages in one tab, as a person does who follows links: the console is loaded once. */
export class Walk {
  readonly tab: Tab;
  readonly #open = new Set<Request>();
  #changed = 0;

  constructor(tab: Tab) {
    this.tab = tab;
    const { page } = tab;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === EVENTS) return;
      this.#open.add(request);
      this.#changed = performance.now();
    });
    const ended = (request: Request): void => {
      if (this.#open.delete(request)) this.#changed = performance.now();
    };
    page.on('requestfinished', ended);
    page.on('requestfailed', ended);
  }

  /** Opens a page without loading the console again, and waits until it has read what it reads. */
  async to(url: string): Promise<void> {
    await this.tab.page.evaluate((path) => history.pushState({}, '', path), `/ui${url}`);
    // Until it is drawn, the heading and the actions of the previous page are there.
    await this.tab.page.waitForFunction(
      () => {
        const shown = document.querySelector<HTMLElement>('#page')?.dataset['path'];
        return shown === undefined || decodeURI(`/ui${shown}`) === decodeURI(location.pathname);
      },
      undefined,
      { polling: QUIET },
    );
    await this.tab.page.locator('h1').first().waitFor();
    await this.quiet();
  }

  /** Loads a page again: nothing of the one before is left. */
  async again(url: string): Promise<void> {
    await this.tab.open(url);
    await this.quiet();
  }

  /** Waits until no call is open and none follows, and nothing says that it is being loaded. @throws Error when that never happens */
  async quiet(): Promise<void> {
    const deadline = performance.now() + PATIENCE;
    for (;;) {
      // A page that draws nothing may be given no idle period without a limit, although it does nothing.
      await this.tab.page.evaluate(
        ({ wait, limit }) =>
          // eslint-disable-next-line no-restricted-syntax -- the browser keeps this time: a page that is quiet so long reads no more
          new Promise((resolve) => requestIdleCallback(() => setTimeout(resolve, wait), { timeout: limit })),
        { wait: QUIET, limit: IDLE },
      );
      const busy = this.#open.size > 0 || performance.now() - this.#changed < QUIET;
      if (!busy && (await this.tab.page.locator('[aria-busy="true"], .mantine-Skeleton-root').count()) === 0) return;
      if (performance.now() > deadline) throw new Error(`${this.tab.page.url()} never ends loading`);
    }
  }
}
