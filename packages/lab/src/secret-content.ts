import { invalid, invalidValue, requiredValue, type ClusterAnswer, type StatusCause } from './cluster-status.ts';
import type { FieldPath } from './field-owners.ts';
import { labelCauses, nameCauses } from './object-rules.ts';

export const SECRETS = { kind: 'Secret', plural: 'secrets', group: '' } as const;
const LARGEST = 1_048_576;
const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
/** The keys that Secrets of a type must have. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
};

type Texts = Readonly<Record<string, string>>;

/** What a Secret holds, apart from what the server adds. */
export interface Content {
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly data: Texts;
  readonly type: string;
  readonly immutable: boolean;
}

/** What a client sends of a Secret. */
export interface Sent {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Texts;
    readonly annotations?: Texts;
  };
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string | null>>;
}

export const EMPTY: Content = { labels: {}, annotations: {}, data: {}, type: 'Opaque', immutable: false };

/** What a client wants a Secret to hold. */
export function contentOf({ metadata = {}, data = {}, type = 'Opaque', immutable = false }: Sent, kind = type): Content {
  const texts = Object.fromEntries(Object.entries(data).filter((entry): entry is [string, string] => entry[1] !== null));
  return { labels: metadata.labels ?? {}, annotations: metadata.annotations ?? {}, data: texts, type: kind, immutable };
}

/** What an apply makes of an object: what it names is there, and what it no longer names is gone. */
export function grown(found: Content, sent: Sent, gone: readonly FieldPath[]): Content {
  const content = contentOf(sent);
  const without = (texts: Texts, ...at: string[]): Texts =>
    Object.fromEntries(
      Object.entries(texts).filter(([key]) => !gone.some((path) => JSON.stringify(path) === JSON.stringify([...at, key]))),
    );
  return {
    labels: { ...without(found.labels, 'metadata', 'labels'), ...content.labels },
    annotations: { ...without(found.annotations, 'metadata', 'annotations'), ...content.annotations },
    data: { ...without(found.data, 'data'), ...content.data },
    type: sent.type ?? found.type,
    immutable: sent.immutable ?? found.immutable,
  };
}

/** What a merge patch makes of an object. */
export function patched(found: Content, sent: Sent): Content {
  const merged = Object.entries({ ...found.data, ...sent.data }).filter((entry): entry is [string, string] => entry[1] !== null);
  return {
    labels: { ...found.labels, ...sent.metadata?.labels },
    annotations: { ...found.annotations, ...sent.metadata?.annotations },
    data: Object.fromEntries(merged),
    type: sent.type ?? found.type,
    immutable: sent.immutable ?? found.immutable,
  };
}

/** A field, and its value as text. */
export interface Leaf {
  readonly path: FieldPath;
  readonly value: string;
}

/** The fields of a Secret, by their paths. */
export function leaves({ labels, annotations, data, type, immutable }: Content): Map<string, Leaf> {
  const all: Leaf[] = [
    ...Object.entries(data).map(([key, value]) => ({ path: ['data', key], value })),
    ...Object.entries(labels).map(([key, value]) => ({ path: ['metadata', 'labels', key], value })),
    ...Object.entries(annotations).map(([key, value]) => ({ path: ['metadata', 'annotations', key], value })),
    ...(immutable ? [{ path: ['immutable'], value: 'true' }] : []),
    { path: ['type'], value: type },
  ];
  return new Map(all.map((leaf) => [JSON.stringify(leaf.path), leaf]));
}

/** Why an object is refused: as it would be, and because of what it was. */
export function refusal(name: string, next: Content, found: Content | undefined): ClusterAnswer | undefined {
  const causes: StatusCause[] = [...nameCauses(name), ...labelCauses(next.labels), ...dataCauses(next)];
  const frozen = { reason: 'FieldValueForbidden', message: 'Forbidden: field is immutable when `immutable` is set', field: 'data' };
  if (found && next.type !== found.type) causes.push(invalidValue('type', next.type, 'field is immutable'));
  if (found?.immutable && JSON.stringify(sorted(next.data)) !== JSON.stringify(sorted(found.data))) causes.push(frozen);
  return causes.length > 0 ? invalid(SECRETS, name, causes) : undefined;
}

function dataCauses({ data, type }: Content): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const key of Object.keys(data)) {
    const field = `data[${key}]`;
    if (!/^[-._a-zA-Z0-9]+$/.test(key)) causes.push(invalidValue(field, key, KEY_RULE));
    if (key.length > 253) causes.push(invalidValue(field, key, 'must be no more than 253 characters'));
    if (key === '.' || key === '..') causes.push(invalidValue(field, key, `must not be '${key}'`));
    else if (key.startsWith('..')) causes.push(invalidValue(field, key, "must not start with '..'"));
  }
  const size = Object.values(data).reduce((sum, text) => sum + Buffer.from(text, 'base64').length, 0);
  if (size > LARGEST)
    causes.push({ reason: 'FieldValueTooLong', message: `Too long: may not be more than ${LARGEST} bytes`, field: 'data' });
  for (const key of NEEDED[type] ?? []) if (data[key] === undefined) causes.push(requiredValue(`data[${key}]`));
  return causes;
}

function sorted(texts: Texts): [string, string][] {
  return Object.entries(texts).sort(([one], [other]) => (one < other ? -1 : 1));
}
