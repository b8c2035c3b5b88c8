import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { findProgram } from '@strongroom/lab';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The same browser without a frame around its pages starts and draws with less. */
const program = findProgram('chromium-headless-shell') ?? findProgram('chromium');

/** Why there is no browser here; undefined where there is one. */
export const noChromium = program === undefined ? 'chromium is not installed' : undefined;

export interface TabOptions {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** Shown to the server of the tab, whose own certificate is believed. PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** Times that Tab is pressed before the page is asked what was reached. */
const PRESSES = 10;

/** A browser without a window. */
export class ConsoleBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<ConsoleBrowser> {
    return new ConsoleBrowser(await chromium.launch({ executablePath: program!, args: ['--no-sandbox', '--disable-dev-shm-usage'] }));
  }

  /** A tab of its own, as of another person: nothing is shared with other tabs. */
  async tab(origin: string, { scheme = 'light', width = 1280, height = 800, certificate }: TabOptions = {}): Promise<Tab> {
    const context = await this.#browser.newContext({
      baseURL: origin,
      colorScheme: scheme,
      viewport: { width, height },
      reducedMotion: 'reduce',
      permissions: ['clipboard-write'],
      ...(certificate ? shown(origin, certificate) : {}),
    });
    context.setDefaultTimeout(20_000);
    await context.addInitScript(() => {
      // No page may read the clipboard: tests read here what was written to it.
      const { clipboard } = navigator;
      if (!clipboard) return;
      const write = clipboard.writeText.bind(clipboard);
      let written = '';
      clipboard.writeText = async (text) => {
        written = text;
        await write(text);
      };
      clipboard.readText = async () => written;
    });
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) =>
        console.error(`content security policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`),
      );
    });
    const page = await context.newPage();
    const tab = new Tab(context, page, origin);
    return tab;
  }

  async stop(): Promise<void> {
    await this.#browser.close();
  }
}

function shown(origin: string, { cert, key }: { readonly cert: string; readonly key: string }) {
  return { ignoreHTTPSErrors: true, clientCertificates: [{ origin, cert: Buffer.from(cert), key: Buffer.from(key) }] };
}

/** One tab with what went wrong in it. */
export class Tab {
  readonly page: Page;
  /** Errors in the console, violations of the content security policy, requests to other origins, exceptions. */
  readonly faults: string[] = [];
  /** Everything that was written to the console. */
  readonly said: string[] = [];
  readonly #context: BrowserContext;
  readonly #origin: string;

  constructor(context: BrowserContext, page: Page, origin: string) {
    this.page = page;
    this.#context = context;
    this.#origin = origin;
    page.on('console', (message) => {
      this.said.push(message.text());
      // An answer of 4xx is written by the browser itself.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) this.faults.push(message.text());
    });
    page.on('pageerror', (error) => this.faults.push(`exception: ${error.stack ?? error.message}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`) && !/^(data|blob|about):/.test(request.url()))
        this.faults.push(`request to ${request.url()}`);
    });
  }

  /** Logs in with a token, and opens a page of the console: `/mounts`. */
  async login(token: string, path = '/'): Promise<void> {
    await this.page.goto('/ui/login');
    await this.page.evaluate((value) => sessionStorage.setItem('strongroom-token', value), token);
    await this.open(path);
  }

  /** Another tab of the same person in the same browser, logged in with the token. */
  async sibling(token: string, path = '/'): Promise<Tab> {
    const tab = new Tab(this.#context, await this.#context.newPage(), this.#origin);
    await tab.login(token, path);
    return tab;
  }

  /** Opens a page of the console and waits for its heading. */
  async open(path: string): Promise<void> {
    await this.page.goto(`/ui${path}`);
    await this.page.locator('h1').waitFor();
  }

  /** Changes the colours that the system asks for, and waits until the page has them. */
  async dress(scheme: 'light' | 'dark'): Promise<void> {
    await this.page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await this.page.waitForFunction((wanted) => document.documentElement.dataset['mantineColorScheme'] === wanted, scheme);
    await this.page.evaluate(async () => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      // Colours that are still on their way are no colours of the page.
      await Promise.all(
        document
          .getAnimations()
          .map(async ({ effect, finished }) => effect?.getComputedTiming().iterations !== Infinity && finished.catch(() => undefined)),
      );
    });
  }

  /** From now on as on a computer that is so many times slower, behind a line of this speed. `roundTrip` in milliseconds. */
  async slowDown(times: number, line: { readonly bytesPerSecond: number; readonly roundTrip: number }): Promise<void> {
    const session = await this.#context.newCDPSession(this.page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: times });
    const { bytesPerSecond, roundTrip } = line;
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: roundTrip,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    });
  }

  /**
   * Does something once, while the next request that writes to a path of the API is on its way: `ldap/config`, or a glob.
   * What a page reads in the background does not meet it first.
   */
  async beforeWrite(path: string, work: () => Promise<unknown>): Promise<void> {
    let done = false;
    await this.page.route(`**/v1/${path}`, async (route, request) => {
      if (!done && ['POST', 'PUT', 'PATCH', 'DELETE'].includes(request.method())) {
        done = true;
        await work();
      }
      await route.continue();
    });
  }

  /** Waits until nothing is being loaded any more. */
  async settled(): Promise<void> {
    await this.page.waitForFunction(() => document.querySelector('[aria-busy="true"], .mantine-Skeleton-root') === null);
  }

  /** What axe finds on the page: rule and element, a line each (WCAG 2.2 A and AA, best practice), or of the rules named alone. */
  async violations(rules?: readonly string[]): Promise<string[]> {
    const session = await this.#context.newCDPSession(this.page);
    const { result: known } = await session.send('Runtime.evaluate', { expression: 'typeof axe' });
    if (known.value === 'undefined') await session.send('Runtime.evaluate', { expression: AXE });
    const runOnly = rules === undefined ? TAGS : { type: 'rule', values: rules };
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression: `axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] })
        .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ': ' + node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? ''))))`,
      awaitPromise: true,
      returnByValue: true,
    });
    await session.detach();
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value as string[];
  }

  /** What can be clicked and is seen, and is not reached by pressing Tab, a line each. Of a group that arrows walk through, one element is enough. */
  async beyondTheKeyboard(): Promise<string[]> {
    const GROUPED = '[role="tab"], [role="radio"], [role="menuitem"], [role="option"], [role="treeitem"], input[type="radio"]';
    await this.page.evaluate((grouped) => {
      const offered = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [role="button"]')].filter((one) => {
        const { width, height } = one.getBoundingClientRect();
        return (
          width > 0 &&
          height > 0 &&
          one.checkVisibility() &&
          !one.matches(':disabled') &&
          !one.matches(grouped) &&
          !one.closest('[aria-hidden="true"], [inert]')
        );
      });
      const keys = { offered: new Set(offered), rounds: 0 };
      Object.assign(window, { keys });
      const reach = (element: Element | null): void => void keys.offered.delete(element!);
      document.addEventListener('focusin', () => reach(document.activeElement));
      // Behind the last element the focus leaves the page.
      document.addEventListener('focusout', ({ relatedTarget }) => (keys.rounds += relatedTarget === null ? 1 : 0));
      (document.activeElement as HTMLElement | null)?.blur();
      keys.rounds = 0;
    }, GROUPED);
    // The focus begins in the middle of the page: it has to come around twice.
    for (let presses = 0; presses < 600; presses += PRESSES) {
      for (let i = 0; i < PRESSES; i += 1) await this.page.keyboard.press('Tab');
      const done = await this.page.evaluate(() => {
        const { offered, rounds } = (window as unknown as { keys: { offered: Set<Element>; rounds: number } }).keys;
        return offered.size === 0 || rounds >= 2;
      });
      if (done) break;
    }
    return this.page.evaluate(() => {
      // What is seen only while it has the focus, such as a link to skip to the page, would cover others.
      (document.activeElement as HTMLElement | null)?.blur();
      const { offered } = (window as unknown as { keys: { offered: Set<Element> } }).keys;
      return [...offered].map((one) => one.outerHTML.slice(0, 120));
    });
  }

  /** What makes the page wider than its window: elements that stand out to the right, a line each. */
  async widerThanWindow(): Promise<string[]> {
    return this.page.evaluate(() => {
      const width = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth <= width) return [];
      const out = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > width + 1);
      return out.slice(0, 5).map((one) => one.outerHTML.slice(0, 120));
    });
  }

  /** Everywhere a text stands: the document with its fields, title, address, storage, the console. */
  async places(text: string): Promise<string[]> {
    return (await this.finds([text]))[0]!;
  }

  /** Of several texts, everywhere each of them stands. */
  async finds(texts: readonly string[]): Promise<string[][]> {
    const inPage = await this.page.evaluate((wanted) => {
      const fields = [...document.querySelectorAll('input, textarea')].map((field) => (field as HTMLInputElement).value).join('\n');
      const places: Record<string, string> = {
        document: document.documentElement.outerHTML,
        fields,
        title: document.title,
        address: location.href,
        'local storage': JSON.stringify({ ...localStorage }),
        'session storage': JSON.stringify({ ...sessionStorage }),
      };
      return wanted.map((text) => Object.keys(places).filter((place) => places[place]!.includes(text)));
    }, texts);
    return texts.map((text, at) => [...inPage[at]!, ...(this.said.some((line) => line.includes(text)) ? ['console'] : [])]);
  }

  /** A picture of what is seen. */
  async picture(file: string): Promise<void> {
    await mkdir(dirname(file), { recursive: true });
    await this.page.screenshot({ path: file });
  }

  async close(): Promise<void> {
    await this.#context.close();
  }
}
