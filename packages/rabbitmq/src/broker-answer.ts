import { BrokerFailed } from './broker-failed.ts';

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What RabbitMQ says of a failure. Of a bad regular expression it sends the Erlang term, texts as lists of character codes. */
export function reasonIn(body: unknown): string {
  if (!isRecord(body)) return 'the answer is not of the management API';
  const { reason, error } = body;
  const said = reason ?? error;
  return said === undefined ? 'no reason' : erlangText(said);
}

function erlangText(term: unknown): string {
  if (typeof term === 'string') return term;
  if (!Array.isArray(term)) return JSON.stringify(term);
  const isText = term.length > 0 && term.every((code) => Number.isInteger(code) && code >= 32 && code < 0x11_0000);
  return isText ? String.fromCodePoint(...(term as number[]).slice(0, 1_000)) : term.map(erlangText).join(' ');
}

/** The names in a list of users. @throws BrokerFailed for anything else */
export function requireNames(body: unknown, what: string): string[] {
  const names = Array.isArray(body) ? body.map((user: unknown) => (isRecord(user) ? user['name'] : undefined)) : [undefined];
  if (names.every((name) => typeof name === 'string')) return names;
  throw new BrokerFailed(`RabbitMQ refused ${what}: the answer is not of the management API`, 'refused', { answered: true });
}

const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/** What went wrong below an error of a socket, in one line. `unsent`: no connection was made, so nothing was sent. */
export function reasonOf(error: unknown): { readonly text: string; readonly unsent: boolean } {
  if (!isRecord(error)) return { text: String(error), unsent: false };
  const { errors, message, code: given } = error as { readonly errors?: unknown; readonly message?: unknown; readonly code?: unknown };
  // Of an address with several IP addresses, all of which failed.
  if (Array.isArray(errors) && errors.length > 0) {
    const all = errors.map(reasonOf);
    return { text: all[0]!.text, unsent: all.every(({ unsent }) => unsent) };
  }
  const code = String(given ?? '');
  const text = String(message ?? '') || code || 'no reason';
  const isTls = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code);
  return { text: code === '' || text.includes(code) ? text : `${text} (${code})`, unsent: isTls || NOT_CONNECTED.has(code) };
}
