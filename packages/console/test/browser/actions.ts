import type { Page } from 'playwright-core';
import type { Told } from './console-server.ts';
import type { Walk } from './walk.ts';

/** Calls that only ask what the token may do, or what a draft would do. */
const QUESTIONS = /\/v1\/sys\/(capabilities-self|policies\/(explain-self|check)|internal\/)/;
/** What changes only what is seen, and leads to forms whose own actions are pressed. */
export const LOOKS =
  /^(Copy|Show|Hide|Table of|Cancel|Try again|Add a |Remove row|Replace |Remove \S+$|Export|Failed |Succeeded |Compare|Review)/;
const ACTIONS = '#page button:not([role="tab"]):not([aria-hidden="true"]):not([tabindex="-1"])';

/** An action as a page shows it. `missing` is why it is grey: `update and sudo on sys/seal`. */
export interface Action {
  readonly label: string;
  readonly missing?: string;
}

/** A page as a token finds it. */
export interface Offer {
  readonly actions: readonly Action[];
  /** Refusals that do not say which rule decides. */
  readonly unexplained: readonly string[];
  /** Whether the page says that there is something that the token may not see. */
  readonly refuses: boolean;
}

/** What the open page offers. */
export async function offerOf(page: Page): Promise<Offer> {
  const found = await page.evaluate((selector) => {
    const text = (one: Element): string => (one as HTMLElement).innerText.trim();
    return {
      labels: [...document.querySelectorAll(selector)].map((one) => one.getAttribute('aria-label') ?? text(one)),
      alerts: [...document.querySelectorAll('#page [role="alert"]')].map(text),
      page: text(document.querySelector('#page')!),
    };
  }, ACTIONS);
  const refusals = found.alerts.filter((alert) => alert.includes('403 ·'));
  return {
    actions: found.labels.filter(Boolean).map((label) => {
      const [, plain, missing] = /^(.*): not allowed, missing (.*)\. Explain$/.exec(label) ?? [];
      return missing === undefined ? { label } : { label: plain!, missing };
    }),
    unexplained: refusals.filter((alert) => !/^refused$/m.test(alert)),
    refuses: refusals.length > 0 || /Which rule decides|the token may not see it/.test(found.page),
  };
}

/** Presses actions. Nothing is written: calls that would write are held back, and the server says whether the token may make them. */
export class Presser {
  readonly #walk: Walk;
  readonly #ask: (path: string, operation: string) => Promise<Told>;
  #held: { readonly method: string; readonly path: string }[] = [];
  #holds = false;

  /** `ask` is `sys/policies/explain-self` of the tab's token. */
  constructor(walk: Walk, ask: (path: string, operation: string) => Promise<Told>) {
    this.#walk = walk;
    this.#ask = ask;
  }

  async start(): Promise<void> {
    await this.#walk.tab.page.route('**/v1/**', async (route, request) => {
      if (!this.#holds || request.method() === 'GET' || QUESTIONS.test(request.url())) return route.fallback();
      this.#held.push({ method: request.method(), path: decodeURIComponent(new URL(request.url()).pathname.slice('/v1/'.length)) });
      return route.fulfill({ status: 400, contentType: 'application/json', body: '{"errors":["held back"]}' });
    });
  }

  /** Presses every action that the open page offers. @returns a line for each call that the server would refuse */
  async refused(url: string, { actions }: Offer): Promise<string[]> {
    const { page } = this.#walk.tab;
    const refused: string[] = [];
    for (const { label } of actions.filter((one) => one.missing === undefined && !LOOKS.test(one.label))) {
      const button = page
        .locator(ACTIONS)
        .and(page.getByRole('button', { name: label, exact: true }))
        .first();
      if ((await button.count()) === 0 || !(await button.isEnabled())) continue;
      this.#held = [];
      this.#holds = true;
      await button.click();
      await this.#walk.quiet();
      if (this.#held.length === 0 && page.url().endsWith(`/ui${url}`)) await this.#confirm(label);
      this.#holds = false;
      for (const { method, path } of this.#held) if (!(await this.#may(method, path))) refused.push(`${url} “${label}”: ${method} ${path}`);
      await this.#walk.anew(url);
    }
    return refused;
  }

  /** Fills what is empty, types what must be typed, and presses the last button of the dialogue, or the action again. */
  async #confirm(label: string): Promise<void> {
    const { page } = this.#walk.tab;
    const dialog = page.getByRole('dialog');
    const asks = (await dialog.count()) > 0;
    const place = asks ? dialog.last() : page.locator('#page');
    for (const field of await place
      .locator('input[type="text"]:not([readonly]), input:not([type]), input[type="password"], textarea')
      .all()) {
      if (!(await field.isVisible()) || !(await field.isEditable()) || (await field.inputValue()) !== '') continue;
      const asked = await field.evaluate((one) => (one as HTMLInputElement).labels?.[0]?.textContent ?? '');
      await field.fill(/Type “(.*)” to confirm/.exec(asked)?.[1] ?? 'x');
    }
    await this.#walk.quiet();
    const offered = place.locator('button:not([disabled]):not([aria-disabled="true"])');
    const last = asks ? offered.last() : offered.and(page.getByRole('button', { name: label, exact: true })).first();
    if ((await last.count()) > 0) await last.click();
    await this.#walk.quiet();
  }

  async #may(method: string, path: string): Promise<boolean> {
    const operations = method === 'DELETE' ? ['delete'] : method === 'PATCH' ? ['patch'] : ['create', 'update'];
    const told = await Promise.all(operations.map(async (operation) => this.#ask(path, operation)));
    return told.some(({ data }) => data['allowed'] === true);
  }
}
