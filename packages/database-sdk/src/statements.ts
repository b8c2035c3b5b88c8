import { StatementInvalid } from './errors.ts';
import type { QuoteStyle, SqlDialect } from './sql-dialect.ts';
import { scanSql, type SqlSegment } from './sql-scan.ts';

/** What stands in for `{{name}}` and its like. A name that a statement uses and that is missing here makes rendering fail. */
export interface StatementValues {
  readonly name?: string;
  readonly username?: string;
  readonly password?: string;
  readonly expiration?: string;
  readonly public_key?: string;
  readonly subject?: string;
}

const PLACEHOLDER = /\{\{(name|username|password|expiration|public_key|subject)\}\}/g;
/** What looks like a placeholder. One that is misspelt, sent as it stands, would be everybody's name or password. */
const LIKE_PLACEHOLDER = /\{\{\s*[A-Za-z_]\w*\s*\}\}/g;

type Place = { in: 'bare' | 'opaque' } | { in: 'quoted'; quote: QuoteStyle };
type Part = string | { key: keyof StatementValues; place: Place };
type Template = readonly Part[];

/**
 * The statements of a role, one by one, with their placeholders replaced.
 *
 * An element of `commands` may itself be a JSON array of statements, or base64 of statements. It is split on `;` outside quotes, dollar
 * quotes and comments, except that an element with the word END runs whole. Statements are trimmed and empty ones dropped.
 *
 * A value cannot leave the quotes that its placeholder stands in: it is escaped as the dialect wants. Where escaping is not possible (no
 * quotes, a dollar-quoted body, a comment), only harmless values are accepted, and without quotes no password at all, since the database would
 * quote pieces of it in an error. An unknown placeholder is refused. Throws StatementInvalid, which does not contain the value.
 */
export function renderStatements(commands: readonly string[], values: StatementValues, dialect: SqlDialect): string[] {
  return commands.flatMap((element) => templatesOf(element, dialect).map((template) => renderTemplate(template, values)));
}

/** As `renderStatements`, without replacing anything. */
export function splitStatements(commands: readonly string[], dialect: SqlDialect): string[] {
  return commands.flatMap((element) =>
    templatesOf(element, dialect).map((template) => template.map((part) => (typeof part === 'string' ? part : `{{${part.key}}}`)).join('')),
  );
}

/** An element as operators may write it: plain, a JSON array of strings, or base64 of either. */
export function decodeStatementElement(element: string): string[] {
  const text = decodeBase64(element.trim()) ?? element;
  return parseJsonList(text) ?? [text];
}

/**
 * For databases whose statements are JSON documents: parses `statement` and replaces the placeholders inside its strings, after parsing, so
 * that a value cannot become structure.
 */
export function renderJsonStatement(statement: string, values: StatementValues): unknown {
  let parsed: unknown;
  try {
    parsed = JSON.parse(statement);
  } catch (error) {
    throw new StatementInvalid('a statement is not valid JSON', { cause: error });
  }
  return renderJsonValue(parsed, values);
}

function renderJsonValue(value: unknown, values: StatementValues): unknown {
  if (typeof value === 'string') return value.replace(PLACEHOLDER, (_, key: keyof StatementValues) => requireValue(values, key));
  if (Array.isArray(value)) return value.map((item) => renderJsonValue(item, values));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renderJsonValue(item, values)]));
}

function parseJsonList(text: string): string[] | undefined {
  if (!text.trimStart().startsWith('[')) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed) && parsed.every((item) => typeof item === 'string')) return parsed;
  } catch {
    // Not JSON: a statement that starts with a bracket.
  }
  return undefined;
}

/** Only what is well-formed base64 of printable text counts: `DROP` is well-formed base64 too. */
function decodeBase64(text: string): string | undefined {
  if (text.length < 8 || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  try {
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64'));

    return /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}

const CACHE_LIMIT = 500;
const cache = new WeakMap<SqlDialect, Map<string, readonly Template[]>>();

function templatesOf(element: string, dialect: SqlDialect): readonly Template[] {
  let known = cache.get(dialect);
  if (!known) cache.set(dialect, (known = new Map<string, readonly Template[]>()));
  let templates = known.get(element);
  if (!templates) {
    templates = decodeStatementElement(element).flatMap((text) => compile(text, dialect));
    if (known.size >= CACHE_LIMIT) known.delete(known.keys().next().value!);
    known.set(element, templates);
  }
  return templates;
}

function compile(text: string, dialect: SqlDialect): Template[] {
  const segments = scanSql(text, dialect);
  const whole = segments.some((segment) => segment.kind === 'bare' && /\bEND\b/i.test(segment.text));
  const statements: SqlSegment[][] = [[]];
  for (const segment of segments) {
    if (segment.kind !== 'bare' || whole) {
      statements.at(-1)!.push(segment);
      continue;
    }
    const [first, ...rest] = segment.text.split(';');
    statements.at(-1)!.push({ kind: 'bare', text: first! });
    for (const piece of rest) statements.push([{ kind: 'bare', text: piece }]);
  }
  return statements.filter((pieces) => pieces.some((piece) => piece.kind !== 'comment' && piece.text.trim() !== '')).map(toTemplate);
}

function toTemplate(segments: readonly SqlSegment[]): Template {
  const parts: Part[] = [];
  const add = (text: string): void => {
    if (text === '') return;
    if (typeof parts.at(-1) === 'string') parts[parts.length - 1] += text;
    else parts.push(text);
  };
  for (const segment of segments) {
    if (segment.kind !== 'comment') refuseUnknown(segment.text);
    const place: Place = segment.quote ? { in: 'quoted', quote: segment.quote } : { in: segment.kind === 'bare' ? 'bare' : 'opaque' };
    let from = 0;
    for (const match of segment.text.matchAll(PLACEHOLDER)) {
      add(segment.text.slice(from, match.index));
      parts.push({ key: match[1] as keyof StatementValues, place });
      from = match.index + match[0].length;
    }
    add(segment.text.slice(from));
  }
  if (typeof parts[0] === 'string') parts[0] = parts[0].trimStart();
  const last = parts.at(-1);
  if (typeof last === 'string') parts[parts.length - 1] = last.trimEnd();
  return parts;
}

function refuseUnknown(text: string): void {
  for (const [found] of text.matchAll(LIKE_PLACEHOLDER)) {
    if (found.replace(PLACEHOLDER, '') === '') continue;
    throw new StatementInvalid(
      `a statement uses ${found}, which is none of {{name}}, {{username}}, {{password}}, {{expiration}}, {{public_key}} and {{subject}}`,
    );
  }
}

function renderTemplate(template: Template, values: StatementValues): string {
  let text = '';
  for (const part of template) text += typeof part === 'string' ? part : place(requireValue(values, part.key), part.key, part.place);
  return text;
}

function requireValue(values: StatementValues, key: keyof StatementValues): string {
  const value = values[key];
  if (value === undefined) throw new StatementInvalid(`a statement uses {{${key}}}, which has no value here`);
  return value;
}

/** Where nothing can be escaped: no quote, separator, dollar, blank, comment mark or control character. */
const UNSAFE_OPAQUE = /['"`\\;$\s\p{Cc}]|--|\/\*|\*\/|\/\//u;
const SAFE_BARE = /^(?!.*(?:--|\/\/))[\p{L}\p{N}_.@:+=/-]*$/u;

/** A value between quotes of the dialect, given by the opening one: `'`, `"`, `[`. Throws StatementInvalid for what no quotes can hold. */
export function quoted(dialect: SqlDialect, open: string, value: string): string {
  const quote = dialect.quotes[open];
  if (!quote) throw new StatementInvalid(`${dialect.name} has no ${open} quotes`);
  if (value.includes('\0')) throw new StatementInvalid('a quoted value holds a NUL character');
  return `${open}${escaped(value, quote)}${quote.close}`;
}

function escaped(value: string, { close, escape }: QuoteStyle): string {
  const slashed = escape === 'double' ? value : value.replaceAll('\\', '\\\\');
  return slashed.replaceAll(close, escape === 'backslash' ? `\\${close}` : close + close);
}

function place(value: string, key: keyof StatementValues, where: Place): string {
  if (value.includes('\0')) throw new StatementInvalid(`the value of {{${key}}} holds a NUL character`);
  if (where.in === 'quoted') return escaped(value, where.quote);
  if (where.in === 'bare') {
    if (key === 'password') throw new StatementInvalid('{{password}} must stand in quotes in a statement');
    if (SAFE_BARE.test(value)) return value;
    throw new StatementInvalid(`the value of {{${key}}} holds characters that are not safe without quotes around the placeholder`);
  }
  // The host makes the expiration, and its blanks mean no harm.
  if (!UNSAFE_OPAQUE.test(key === 'expiration' ? value.replaceAll(' ', '') : value)) return value;
  throw new StatementInvalid(`the value of {{${key}}} holds characters that are not safe inside a dollar-quoted body or a comment`);
}
