import type { Page } from 'playwright-core';
import type { Walk } from './walk.ts';

/** Calls that only ask what the token may do, or what a draft would do, or a login. */
const QUESTIONS = /\/v1\/sys\/(capabilities|policies\/(explain|check|who)|internal\/)/;
/** What changes only what is seen, and what belongs to a form whose own action is pressed. */
const LOOKS =
  /^(Copy|Show|Hide|Table of|Cancel|Try again|Add|Remove row|Remove \S+$|Replace |Export|Failed |Succeeded |Compare|Review|Choose a file|Toggle|Import|Clear|Close|Discard|Drop)/;
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

/** A call that an action makes. */
export interface HeldCall {
  readonly method: string;
  /** Below `/v1/`, not encoded. */
  readonly path: string;
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
    actions: found.labels.flatMap((label) => {
      const [, plain, missing] = /^(.*): not allowed, missing (.*)\. Explain$/.exec(label) ?? [];
      const action = missing === undefined ? { label } : { label: plain!, missing };
      return label === '' || LOOKS.test(action.label) ? [] : [action];
    }),
    unexplained: refusals.filter((alert) => !/^refused$/m.test(alert)),
    refuses: refusals.length > 0 || /Which rule decides|the token may not see it/.test(found.page),
  };
}

/** Presses actions to learn which calls they make. Nothing is written: the calls are held back. */
export class Presser {
  readonly #walk: Walk;
  #held: HeldCall[] = [];
  #holds = false;

  private constructor(walk: Walk) {
    this.#walk = walk;
  }

  /** `token` is that of the tab's session. */
  static async on(walk: Walk, token: string): Promise<Presser> {
    const presser = new Presser(walk);
    await walk.tab.page.route('**/v1/**', async (route, request) => {
      if (!presser.#holds || request.method() === 'GET' || QUESTIONS.test(request.url())) return route.fallback();
      // What a wrapping token may do is its own matter.
      if (request.headers()['x-vault-token'] === token)
        presser.#held.push({ method: request.method(), path: decodeURIComponent(new URL(request.url()).pathname.slice('/v1/'.length)) });
      return route.fulfill({ status: 400, contentType: 'application/json', body: '{"errors":["held back"]}' });
    });
    return presser;
  }

  /** The calls of each action of the open page, by its label. */
  async calls(url: string, { actions }: Offer): Promise<Map<string, readonly HeldCall[]>> {
    const calls = new Map<string, readonly HeldCall[]>();
    this.#holds = true;
    for (const label of new Set(actions.map((action) => action.label))) calls.set(label, await this.#press(url, label));
    this.#holds = false;
    return calls;
  }

  async #press(url: string, label: string): Promise<readonly HeldCall[]> {
    const { page } = this.#walk.tab;
    const there = (): boolean => page.url().endsWith(`/ui${url}`);
    const click = async (where: string): Promise<boolean> => page.evaluate(clickOn, { where, label });
    this.#held = [];
    if (!(await click(ACTIONS))) {
      await this.#again(url);
      await this.#fill('#page');
      if (!(await click(ACTIONS))) return [];
    }
    await this.#walk.quiet();
    if (this.#held.length === 0 && there()) {
      const asks = (await page.locator(DIALOG).count()) > 0;
      await this.#fill(asks ? DIALOG : '#page');
      if (asks ? await page.evaluate(clickOn, { where: `${DIALOG} button` }) : await click(ACTIONS)) await this.#walk.quiet();
    }
    if (!there() || (await page.locator(DIALOG).count()) > 0) await this.#again(url);
    return this.#held;
  }

  async #again(url: string): Promise<void> {
    await this.#walk.to('/tools/random');
    await this.#walk.to(url);
  }

  /** Fills what is empty, and types what must be typed. */
  async #fill(where: string): Promise<void> {
    await this.#walk.tab.page.evaluate((selector) => {
      for (const field of document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(`${selector} input, ${selector} textarea`)) {
        const { type, readOnly, disabled, value } = field;
        if (!['text', 'password', 'textarea'].includes(type) || readOnly || disabled || value !== '' || !field.checkVisibility()) continue;
        const typed = /Type “(.*)” to confirm/.exec(field.labels?.[0]?.textContent ?? '')?.[1] ?? 'x';
        Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field) as object, 'value')!.set!.call(field, typed);
        field.dispatchEvent(new Event('input', { bubbles: true }));
      }
    }, where);
  }
}

const DIALOG = '[role="dialog"]';

/** Runs in the page. Clicks the button of this label, or the last one that can be clicked; false where there is none. */
function clickOn({ where, label }: { readonly where: string; readonly label?: string }): boolean {
  const offered = [...document.querySelectorAll<HTMLButtonElement>(where)].filter(
    (one) => !one.disabled && one.getAttribute('aria-disabled') !== 'true',
  );
  const named = offered.filter((one) => label === undefined || (one.getAttribute('aria-label') ?? one.innerText.trim()) === label);
  const button = label === undefined ? named.at(-1) : named[0];
  button?.click();
  return button !== undefined;
}
