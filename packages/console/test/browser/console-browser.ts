import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { findProgram } from '@strongroom/lab';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Why there is no browser here; undefined where there is one. */
export const noChromium = findProgram('chromium') === undefined ? 'chromium is not installed' : undefined;

export interface TabOptions {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
}

/** A browser without a window. */
export class ConsoleBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<ConsoleBrowser> {
    const executablePath = findProgram('chromium')!;
    return new ConsoleBrowser(await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] }));
  }

  /** A tab of its own, as of another person: nothing is shared with other tabs. */
  async tab(origin: string, { scheme = 'light', width = 1280, height = 800 }: TabOptions = {}): Promise<Tab> {
    const context = await this.#browser.newContext({
      baseURL: origin,
      colorScheme: scheme,
      viewport: { width, height },
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(20_000);
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

  /** What axe finds on the page: rule and element, a line each (WCAG 2.2 A and AA, best practice). */
  async violations(): Promise<string[]> {
    const session = await this.#context.newCDPSession(this.page);
    await session.send('Runtime.evaluate', { expression: AXE });
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression: `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
        .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ': ' + node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? ''))))`,
      awaitPromise: true,
      returnByValue: true,
    });
    await session.detach();
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value as string[];
  }

  /** Whether the page is wider than its window. */
  async scrollsSideways(): Promise<boolean> {
    return this.page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  }

  /** Everywhere a text stands: the document with its fields, title, address, storage, the console. */
  async places(text: string): Promise<string[]> {
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
      return Object.keys(places).filter((place) => places[place]!.includes(wanted));
    }, text);
    return this.said.some((line) => line.includes(text)) ? [...inPage, 'console'] : inPage;
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
