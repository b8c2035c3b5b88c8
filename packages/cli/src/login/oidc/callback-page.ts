/** What the browser shows at the end of a login. */
export interface CallbackPage {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

/** Servers begin the texts of failed logins with one of these sentences. */
const SENTENCES = [
  'Strongroom login failed.',
  'OpenBao login failed.',
  'Vault login failed.',
  'No response from provider.',
  'Token verification failed.',
];

export const SUCCESS: CallbackPage = { status: 200, title: 'Signed in', text: 'You may close this window and return to the command line.' };

/** A refusal of the server: its first sentence becomes the title. */
export function failurePage(text: string): CallbackPage {
  const sentence = SENTENCES.find((known) => text.startsWith(known));
  if (sentence === undefined) return { status: 400, title: 'Login failed', text };
  return { status: 400, title: sentence, text: text.slice(sentence.length).trim() };
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** The page as HTML. Titles and texts may come from anywhere. */
export function renderPage({ title, text }: CallbackPage): string {
  const safe = (value: string): string => value.replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? '');
  return `<!doctype html>\n<meta charset="utf-8">\n<title>${safe(title)}</title>\n<h1>${safe(title)}</h1>\n<p>${safe(text)}</p>\n`;
}

/** No script, no content of others, and no trace of the address, which has a code in it. */
export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  Connection: 'close',
} as const;
