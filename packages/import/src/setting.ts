import { writeCommand } from './command-text.ts';
import type { Context } from './context.ts';
import { alike, canonical, isUntouched, recordOf, type JsonRecord } from './json.ts';
import type { Group } from './selection.ts';
import type { Line, Thing } from './thing.ts';

/** A field that no read shows. */
export interface SecretField {
  readonly field: string;
  /** Another field that takes its place. */
  readonly or?: string;
  /** Whether the source has one. */
  needed(read: JsonRecord): boolean;
}

export interface SettingParts {
  readonly kind: string;
  readonly group: Group;
  /** At the source; also where it is read there, unless `readAt` says otherwise. */
  readonly path: string;
  readonly to: string;
  /** What the source answered. */
  readonly read: JsonRecord;
  /** What of an answer is written and compared. The same for both servers. */
  shape(read: JsonRecord): JsonRecord;
  /** With accessors, and other names, of this server. */
  here?(content: JsonRecord): JsonRecord;
  readonly secrets?: readonly SecretField[];
  /** Secrets that the store of the source shows. Those of the operator's file count before them. */
  readonly raw?: JsonRecord;
  /** For settings that are never absent: whether nobody has written them. */
  untouched?(shaped: JsonRecord): boolean;
  /** Where it is written, if not at `to`. */
  readonly writeTo?: string;
  /** Written beside the content, such as a secret that the source showed. */
  readonly also?: JsonRecord;
  readonly needs?: Thing['needs'];
  readonly unequal?: string;
  readonly diff?: readonly string[];
}

/** In an import, the line that says which mount the content names although it is not here. A plan expects that the mount will be here. */
export function missingMount(context: Context, kind: string, path: string, content: unknown): Line | undefined {
  const mount = context.apply ? context.map.missingIn(canonical(content)) : undefined;
  return mount && { kind, path, outcome: 'not-carriable', why: `it names the accessor of ${mount.path}, which is not here` };
}

/** A thing that is read and written whole at one path, as nearly everything is but key-value secrets. */
export function setting(context: Context, parts: SettingParts): Thing {
  const { source, target, secrets } = context;
  const { kind, group, path, to, read, shape, here = (content: JsonRecord) => content } = parts;
  const content = here(shape(read));
  const given = givenOf(secrets.of(path), parts);
  const missing = (parts.secrets ?? []).filter(
    ({ field, or, needed }) => needed(read) && given[field] === undefined && (or === undefined || given[or] === undefined),
  );
  const current = async (): Promise<JsonRecord | undefined> => {
    const found = await target.read(to);
    const shaped = found && shape(found);
    return shaped && parts.untouched?.(shaped) && !alike(content, shaped) ? undefined : shaped;
  };
  const lacking = missing[0] && {
    why: `the source does not show ${missing.map(({ field }) => field).join(', ')}: run the command, or name it in the file of -secrets below "${path}"`,
    command: writeCommand(parts.writeTo ?? to, content, missing[0].field),
  };
  const needs = lacking ?? parts.needs;
  return {
    kind,
    group,
    path,
    to,
    content,
    current,
    matches: (found) => alike(content, found),
    differences: (found) => Object.keys(content).filter((key) => !alike(content[key], recordOf(found)[key])),
    state: (found) => written(recordOf(found), content),
    write: async () => void (await target.write(parts.writeTo ?? to, { ...clean(content), ...parts.also, ...given })),
    verify: async () => {
      const again = await source.read(path);
      return again !== undefined && alike(here(shape(again)), await current());
    },
    ...(Object.keys(given).length > 0 ? { given } : {}),
    ...(needs ? { needs } : {}),
    ...(parts.unequal ? { unequal: parts.unequal } : {}),
    ...(parts.diff && parts.diff.length > 0 ? { diff: parts.diff } : {}),
  };
}

/** A field that stands in for one of the file is not sent beside it. */
function givenOf(file: JsonRecord, { raw = {}, secrets = [] }: SettingParts): JsonRecord {
  const replaced = secrets.flatMap(({ field, or }) => (or !== undefined && Object.hasOwn(file, field) ? [or] : []));
  return { ...Object.fromEntries(Object.entries(raw).filter(([key]) => !replaced.includes(key))), ...file };
}

/** What is here of the fields that the source has. Those that nobody set do not count, because not every version of a server shows them. */
function written(found: JsonRecord, content: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(found).filter(([key, value]) => Object.hasOwn(content, key) && !isUntouched({ value })));
}

/** null is no value to many a field. */
function clean(content: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null));
}

/** A shape that leaves fields out. */
export function without(...fields: readonly string[]): (read: JsonRecord) => JsonRecord {
  const left = new Set(fields);
  return (read) => Object.fromEntries(Object.entries(read).filter(([key]) => !left.has(key)));
}

/** A shape of these fields alone. */
export function only(...fields: readonly string[]): (read: JsonRecord) => JsonRecord {
  return (read) => Object.fromEntries(fields.filter((field) => Object.hasOwn(read, field)).map((field) => [field, read[field]]));
}
