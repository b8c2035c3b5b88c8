import type { EngineResponse } from '@strongroom/engine-sdk';

type Page = EngineResponse<never>;

/** No script, no picture, no frame: what a page shows may come from anywhere. Forms go to this server alone. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

/** What the confirmation says about the login, and what it sends. */
export interface Confirmation {
  readonly role: string;
  readonly begunFrom: string;
  readonly begun: Date;
  /** The query of the callback. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Asks the person in the browser whether they began the login: whoever did so gets the token, and may have sent them the address of the provider. The form
 * comes back to the address of the page.
 */
export function confirmationPage({ role, begunFrom, begun, fields }: Confirmation): Page {
  const inputs = Object.entries({ ...fields, confirmation: 'yes' }).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  return page(200, 'Did you start this login?', [
    `<p>A program at the address <b>${escaped(begunFrom)}</b> waits for this login, with the role <b>${escaped(role)}</b>.`,
    `It began at ${escaped(begun.toISOString())}. It gets a token with <b>your</b> rights.</p>`,
    '<p>Continue only if you started it yourself, just now. If somebody sent you a link that led here, close this window.</p>',
    `<form method="get">${inputs.join('')}<button type="submit">Continue, I started it</button></form>`,
  ]);
}

export function completedPage(): Page {
  return page(200, 'Signed in', ['<p>You may close this window and return to the program that started the login.</p>']);
}

export function failedPage(status: number, text: string): Page {
  return page(status, 'Login failed', [`<p>${escaped(text)}</p>`]);
}

/** Sends the browser on to the callback by GET, after the provider posted its answer. `target` is relative to this page. */
export function continuePage(fields: Readonly<Record<string, string>>): Page {
  const target = escaped(`?${new URLSearchParams(fields).toString()}`);
  return page(200, 'Continue', [`<p><a href="${target}">Continue</a></p>`], `<meta http-equiv="refresh" content="0; url=${target}">`);
}

function page(status: number, title: string, lines: readonly string[], head = ''): Page {
  const body = [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    `<title>${title}</title>${head}`,
    '<style>body { font-family: sans-serif; max-width: 40em; margin: 4em auto; padding: 0 1em }</style>',
    `<h1>${title}</h1>`,
    ...lines,
    '</html>',
    '',
  ].join('\n');
  return { status, raw: { contentType: 'text/html; charset=utf-8', body }, headers: HEADERS };
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '`': '&#96;' };

function escaped(text: string): string {
  return text.replace(/[&<>"'`]/g, (letter) => ESCAPES[letter]!);
}
