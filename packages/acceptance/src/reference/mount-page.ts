import { fieldSpec, formatDuration, type AnyPath, type FieldKind } from '@strongroom/engine-sdk';
import type { ServedMount } from './served-mounts.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const KINDS: Readonly<Record<FieldKind, string>> = {
  string: 'text',
  lowercase: 'text, lower-cased',
  name: 'text',
  bool: 'true or false',
  int: 'whole number',
  float: 'number',
  duration: 'duration',
  signedDuration: 'duration, may be negative',
  time: 'time',
  commaStrings: 'list, or text with commas',
  strings: 'list, or one text',
  commaInts: 'list of whole numbers',
  keyValues: 'texts by name',
  map: 'object',
  list: 'list',
  any: 'anything',
};

const OPERATIONS = ['read', 'list', 'scan', 'update', 'patch', 'delete'] as const;
const METHODS = { read: 'GET', list: 'LIST', scan: 'SCAN', update: 'POST', patch: 'PATCH', delete: 'DELETE' } as const;

export const GENERATED = '<!-- Made from the declarations by `npm run reference`. Do not edit. -->';

/** The reference page of a mount: each path with its operations and fields. */
export function mountPage(mount: ServedMount): string {
  const lines = [GENERATED, '', `# ${mount.title}`, ''];
  if (mount.movable)
    lines.push(`Paths are shown for a mount at \`${mount.prefix}\`. It may be mounted at any other path, and more than once.`, '');
  const paths = [...mount.paths].sort((a, b) => (a.pattern < b.pattern ? -1 : 1));
  for (const path of paths) lines.push(...pathSection(path, mount.prefix));
  return `${lines.join('\n').trimEnd()}\n`;
}

function pathSection(path: AnyPath, prefix: string): string[] {
  const { about, operations, pattern } = path;
  const fields = Object.entries(about.fields as Readonly<Record<string, Schema>>);
  const captured = new Set([...pattern.matchAll(/\{(\w+)/g)].map((match) => match[1]!));
  const lines = [
    `## \`/v1/${prefix}${pattern.replace(/\{(\w+):\w+\}/g, '{$1}')}\``,
    '',
    text(about.synopsis),
    ...(about.description === about.synopsis ? [] : ['', text(about.description)]),
    '',
    '| Method | Capability | What it does |',
    '| --- | --- | --- |',
  ];
  for (const name of OPERATIONS) {
    const operation = operations[name];
    if (!operation) continue;
    const answer = answerOf(operation.response as Schema | undefined);
    lines.push(`| ${METHODS[name]} | ${capabilityOf(path, name)} | ${text(operation.summary)}${answer} |`);
  }
  if (about.arbitraryData) lines.push('', 'Takes any other keys as well.');
  if (fields.length > 0) {
    lines.push('', '| Field | Type | Default | Meaning |', '| --- | --- | --- | --- |');
    for (const [name, schema] of fields) {
      const place = captured.has(name) ? ', in the path' : '';
      lines.push(`| \`${name}\` | ${typeOf(schema)}${place} | ${defaultOf(schema)} | ${meaningOf(schema)} |`);
    }
  }
  return [...lines, ''];
}

function capabilityOf({ about, operations }: AnyPath, name: (typeof OPERATIONS)[number]): string {
  if (about.login) return 'none: a login';
  if (about.access === 'unauthenticated') return 'none';
  const capability = name === 'update' && operations.exists ? '`create` or `update`' : `\`${name}\``;
  return about.access === 'sudo' ? `${capability}, and \`sudo\`` : capability;
}

function answerOf(response: Schema | undefined): string {
  const names = Object.keys(response?.properties ?? {});
  return names.length === 0 ? '' : ` Answers ${names.map((name) => `\`${name}\``).join(', ')}.`;
}

function typeOf(schema: Schema): string {
  const spec = fieldSpec(schema);
  const limits = [
    ...(spec.secret ? ['secret'] : []),
    ...(schema.enum ? [`one of ${schema.enum.map((value) => `\`${shown(value)}\``).join(', ')}`] : []),
    ...(schema.minimum === undefined ? [] : [`at least ${schema.minimum}`]),
    ...(schema.maximum === undefined ? [] : [`at most ${schema.maximum}`]),
  ];
  return [KINDS[spec.kind], ...limits].join(', ');
}

function defaultOf(schema: Schema): string {
  const { kind, required } = fieldSpec(schema);
  if (required && kind !== 'name') return 'required';
  const value = schema.default;
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return '';
  if (kind === 'duration' && typeof value === 'number') return `\`${value === 0 ? '0' : formatDuration(value)}\``;
  return `\`${shown(value)}\``;
}

function meaningOf(schema: Schema): string {
  const { aliases, deprecated } = fieldSpec(schema);
  const more = [
    ...(aliases?.length ? [`Also taken as ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`] : []),
    ...(deprecated ? ['Deprecated.'] : []),
  ];
  return [text(schema.description ?? ''), ...more].join(' ');
}

function shown(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** Words of a declaration, safe in a table. */
function text(words: string): string {
  return words
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim();
}
