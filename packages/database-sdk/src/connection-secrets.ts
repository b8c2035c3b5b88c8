import type { TObject } from 'typebox';

const MASK = 'xxxxx';

/** Names under which connection strings carry the secret of a login, in URLs' queries, keyword DSNs and ADO strings. */
const LOGIN_KEY =
  /(?<![\w-])(?:password|passwd|passphrase|passcode|pass|pwd|sslpassword|secret|client_?secret|token|access[_ ]?token|auth[_ ]?token|account[_ ]?key|api[_ -]?key|private[_ ]?key)\s*=\s*/gi;

/** Names that end like those of secrets, whatever they are for: `tlsCertificateKeyFilePassword`, `sessionToken`. */
const SECRET_KEY = /(?<![\w-])[\w-]*(?:password|passwd|passphrase|passcode|pwd|secret|token)\s*=\s*/gi;

/** A property in the value of a MongoDB `authMechanismProperties`; commas part it from others. */
const SECRET_PROPERTY = /(AWS_SESSION_TOKEN(?::|%3A))(?:(?!%2C)[^,&\s;])*/gi;

/** A quoted value of a key: libpq and ADO quotes, ADO braces. */
const QUOTED_VALUE = /'(?:\\[^]|''|[^'\\])*'?|"(?:""|\\[^]|[^"\\])*"?|\{(?:\}\}|[^}])*\}?/y;

interface Span {
  start: number;
  end: number;
}

/**
 * A connection string with its passwords replaced by `xxxxx`, whatever its form: a URL (its user part and its query), a libpq keyword DSN,
 * a Go MySQL DSN, an ADO string. Where the form leaves doubt, more is hidden rather than less. Placeholders such as `{{password}}` stay.
 */
export function maskConnectionUrl(url: string): string {
  let text = '';
  let from = 0;
  for (const { start, end } of secretSpans(url)) {
    text += url.slice(from, start) + MASK;
    from = end;
  }
  return text + url.slice(from);
}

/** The secrets that stand in a connection string in clear, as written there and percent-decoded; for redaction. */
export function connectionUrlSecrets(url: string): string[] {
  return textsOf(url, secretSpans(url));
}

/** Those of them that the login is made with, and that no root rotation could replace. */
export function connectionUrlPasswords(url: string): string[] {
  return textsOf(url, merged(url, loginSpans(url)));
}

function textsOf(url: string, spans: readonly Span[]): string[] {
  const found = spans.map(({ start, end }) => url.slice(start, end));
  return [...new Set(found.flatMap((value) => [value, decodePercent(value), value.replace(/^(['"])([^]*)\1$/, '$2')]))].filter(Boolean);
}

function secretSpans(url: string): Span[] {
  const properties = [...url.matchAll(SECRET_PROPERTY)].map(({ index, 0: text, 1: name }) => ({
    start: index + name!.length,
    end: index + text.length,
  }));
  return merged(url, [...loginSpans(url), ...spansAfter(url, SECRET_KEY), ...properties]);
}

function loginSpans(url: string): Span[] {
  const inUserPart = userPartPassword(url);
  return [...(inUserPart ? [inUserPart] : []), ...spansAfter(url, LOGIN_KEY)];
}

function spansAfter(url: string, key: RegExp): Span[] {
  return [...url.matchAll(key)].map((match) => {
    const start = match.index + match[0].length;
    return { start, end: endOfValue(url, start) };
  });
}

/** Without those that are a placeholder. */
function merged(url: string, spans: readonly Span[]): Span[] {
  const apart: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const last = apart.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else if (span.end > span.start) apart.push({ ...span });
  }
  return apart.filter(({ start, end }) => !/^(['"]?)\{\{\w+\}\}\1$/.test(url.slice(start, end)));
}

/** Between the first colon (or slash) of the user part and the last `@` of all, since an unescaped password may hold `/`, `?` and `@`. */
function userPartPassword(url: string): Span | undefined {
  const scheme = /^\s*[a-z][a-z0-9+.-]*:\/\//i.exec(url);
  const isKeywordForm = !scheme && /^\s*[\w ]+=/.test(url);
  const at = url.lastIndexOf('@');
  if (isKeywordForm || at < 0) return undefined;
  const from = scheme ? scheme[0].length : 0;
  const colon = url.indexOf(':', from);
  if (colon >= 0 && colon < at) return { start: colon + 1, end: at };
  // `user/password@host` (Oracle); in a URL a slash before the `@` ends the host.
  const slash = scheme ? -1 : url.indexOf('/', from);
  return slash >= 0 && slash < at ? { start: slash + 1, end: at } : undefined;
}

function endOfValue(url: string, start: number): number {
  if (/^\{\{\w+\}\}/.test(url.slice(start))) return start + url.slice(start).indexOf('}}') + 2;
  QUOTED_VALUE.lastIndex = start;
  const quoted = QUOTED_VALUE.exec(url)?.[0].length ?? 0;
  // `;` separates ADO pairs, whose values may hold blanks; `&` separates a query's; blanks separate libpq's.
  const isUrl = url.includes('://');
  const stop = isUrl ? /[&\s;]/g : url.includes(';') ? /;/g : /(?<!\\)\s/g;
  stop.lastIndex = start + quoted;
  return stop.exec(url)?.index ?? url.length;
}

function decodePercent(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

interface Annotated {
  secret?: boolean;
  connectionUrl?: boolean;
}

/** Names of the fields of a connection schema that are annotated `secret: true`. */
export function secretFields(schema: TObject): string[] {
  return annotated(schema, 'secret');
}

/** Names of the fields of a connection schema that are annotated `connectionUrl: true`. */
export function connectionUrlFields(schema: TObject): string[] {
  return annotated(schema, 'connectionUrl');
}

function annotated(schema: TObject, annotation: keyof Annotated): string[] {
  return Object.entries(schema.properties).flatMap(([name, field]) => ((field as Annotated)[annotation] ? [name] : []));
}

/** Fields that no schema knows but whose name says what they are, or may be. */
const SECRET_NAME = /pass(word|wd|phrase)?$|pwd$|secret|token$|key|credential|pem_(bundle|json)/i;

/** A value that is a secret under whatever name. */
const SECRET_VALUE = /PRIVATE KEY-----/;

/**
 * What of a stored connection may be shown: without secret fields, with passwords in connection strings masked. Outside the schema whatever has
 * the name of a secret is left out, and what looks like a connection string is masked, at any depth. `hidden` names more secret fields, such as
 * those of the plugin that was there before.
 */
export function visibleConnection(
  schema: TObject,
  details: Readonly<Record<string, unknown>>,
  hidden: readonly string[] = [],
): Record<string, unknown> {
  const secrets = new Set([...secretFields(schema), ...hidden]);
  const urls = new Set(connectionUrlFields(schema));
  const visible: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(details)) {
    const known = name in schema.properties;
    if (secrets.has(name) || (!known && SECRET_NAME.test(name)) || isSecretValue(value)) continue;
    visible[name] = known && !urls.has(name) ? value : masked(value);
  }
  return visible;
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return maskConnectionUrl(value);
  if (Array.isArray(value)) return value.filter((inner) => !isSecretValue(inner)).map(masked);
  if (value === null || typeof value !== 'object') return value;
  const open = Object.entries(value).filter(([name, inner]) => !SECRET_NAME.test(name) && !isSecretValue(inner));
  return Object.fromEntries(open.map(([name, inner]) => [name, masked(inner)]));
}

function isSecretValue(value: unknown): boolean {
  return typeof value === 'string' && SECRET_VALUE.test(value);
}

/** Every secret of a connection that is known in clear, by the label that `redact` should show. `hidden` as for `visibleConnection`. */
export function connectionSecrets(
  schema: TObject,
  details: Readonly<Record<string, unknown>>,
  hidden: readonly string[] = [],
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of [...secretFields(schema), ...hidden]) {
    const value = details[name];
    if (typeof value === 'string' && value) found[name] = value;
  }
  for (const name of connectionUrlFields(schema)) {
    const value = details[name];
    if (typeof value !== 'string') continue;
    connectionUrlSecrets(value).forEach(
      (secret, index) => (found[index === 0 ? `${name} password` : `${name} password ${index}`] = secret),
    );
  }
  return found;
}
