import { parseDn } from './dn.ts';

export interface LdifAttribute {
  readonly attribute: string;
  readonly values: readonly Buffer[];
}

export interface LdifChange extends LdifAttribute {
  readonly operation: 'add' | 'delete' | 'replace';
}

/** One record. `line` is where its `dn:` stands, counted from 1. */
export type LdifRecord = { readonly line: number; readonly dn: string } & (
  | { readonly type: 'add'; readonly attributes: readonly LdifAttribute[] }
  | { readonly type: 'modify'; readonly changes: readonly LdifChange[] }
  | { readonly type: 'modrdn'; readonly newRdn: string; readonly deleteOldRdn: boolean; readonly newSuperior?: string }
  | { readonly type: 'delete' }
);

/** `message` starts with the line; it never quotes a value. */
export class LdifSyntaxError extends Error {
  override readonly name = 'LdifSyntaxError';
  /** Counted from 1, in the text as it was given. */
  readonly line: number;

  constructor(line: number, reason: string) {
    super(`LDIF line ${line}: ${reason}`);
    this.line = line;
  }
}

interface LogicalLine {
  line: number;
  text: string;
}

interface Pair {
  line: number;
  name: string;
  value: Buffer;
}

/**
 * Parses RFC 2849 text: any number of records, folded lines, comments, `::` base64, LF or CRLF, with or without a last line end.
 * A record without `changetype` adds its entry. Values are taken as UTF-8 as they stand. `:<` (values from files) and controls are refused.
 * Text without records gives an empty list. Throws `LdifSyntaxError`.
 */
export function parseLdif(text: string): LdifRecord[] {
  const records: LdifRecord[] = [];
  let block: LogicalLine[] = [];
  const flush = (): void => {
    if (block.length > 0) records.push(readRecord(block));
    block = [];
  };
  for (const logical of unfold(text)) {
    if (logical.text === '') flush();
    else if (records.length === 0 && block.length === 0 && /^version:/i.test(logical.text)) checkVersion(logical);
    else block.push(logical);
  }
  flush();
  return records;
}

function* unfold(text: string): Generator<LogicalLine> {
  let current: LogicalLine | undefined;
  let comment = false;
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [index, physical] of lines.entries()) {
    if (physical.startsWith(' ') && (comment || current !== undefined)) {
      if (!comment) current!.text += physical.slice(1);
      continue;
    }
    if (current !== undefined) yield current;
    current = undefined;
    comment = physical.startsWith('#');
    if (comment) continue;
    if (physical.trim() === '') yield { line: index + 1, text: '' };
    else if (physical.startsWith(' ')) throw new LdifSyntaxError(index + 1, 'a folded line continues nothing');
    else current = { line: index + 1, text: physical };
  }
  if (current !== undefined) yield current;
}

function checkVersion({ line, text }: LogicalLine): void {
  if (text.slice('version:'.length).trim() !== '1') throw new LdifSyntaxError(line, 'only version 1 is known');
}

function readPair({ line, text }: LogicalLine): Pair {
  const colon = text.indexOf(':');
  if (colon < 0) throw new LdifSyntaxError(line, 'no ":" after the attribute name');
  const name = text.slice(0, colon);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*(?:;[A-Za-z0-9_-]+)*$/.test(name)) throw new LdifSyntaxError(line, 'not an attribute name before ":"');
  if (text[colon + 1] === '<') throw new LdifSyntaxError(line, 'values from URLs are not supported');
  if (text[colon + 1] !== ':') return { line, name, value: Buffer.from(text.slice(colon + 1).replace(/^ +/, '')) };
  const encoded = text.slice(colon + 2).trim();
  const value = Buffer.from(encoded, 'base64');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded) || encoded.length % 4 !== 0)
    throw new LdifSyntaxError(line, `the value of ${name} is not base64`);
  return { line, name, value };
}

function readDn({ line, name, value }: Pair): string {
  const dn = value.toString('utf8');
  try {
    parseDn(dn);
  } catch {
    throw new LdifSyntaxError(line, `the value of ${name} is not a distinguished name`);
  }
  return dn;
}

function readRecord(block: readonly LogicalLine[]): LdifRecord {
  const first = readPair(block[0]!);
  if (first.name.toLowerCase() !== 'dn') throw new LdifSyntaxError(first.line, 'a record starts with "dn:"');
  const record = { line: first.line, dn: readDn(first) };
  let rest = block.slice(1);
  const second = rest[0] === undefined ? undefined : readPair(rest[0]);
  if (second?.name.toLowerCase() === 'control') throw new LdifSyntaxError(second.line, 'controls are not supported');
  let change = 'add';
  let line = first.line;
  if (second?.name.toLowerCase() === 'changetype') {
    change = second.value.toString('utf8').trim().toLowerCase();
    line = second.line;
    rest = rest.slice(1);
  }
  switch (change) {
    case 'add':
      return { ...record, type: 'add', attributes: readAttributes(rest, line) };
    case 'modify':
      return { ...record, type: 'modify', changes: readChanges(rest, line) };
    case 'modrdn':
    case 'moddn':
      return { ...record, type: 'modrdn', ...readRename(rest, line) };
    case 'delete':
      if (rest[0] !== undefined) throw new LdifSyntaxError(rest[0].line, 'a delete record has no further lines');
      return { ...record, type: 'delete' };
    default:
      throw new LdifSyntaxError(line, 'changetype is not one of add, modify, modrdn, moddn, delete');
  }
}

function readAttributes(block: readonly LogicalLine[], line: number): LdifAttribute[] {
  const attributes = new Map<string, { attribute: string; values: Buffer[] }>();
  for (const { name, value, line: at } of block.map(readPair)) {
    const key = name.toLowerCase();
    if (key === 'dn' || key === 'changetype')
      throw new LdifSyntaxError(at, `"${key}:" inside a record; is an empty line missing before it?`);
    const known = attributes.get(key);
    if (known === undefined) attributes.set(key, { attribute: name, values: [value] });
    else known.values.push(value);
  }
  if (attributes.size === 0) throw new LdifSyntaxError(line, 'an add record has no attributes');
  return [...attributes.values()];
}

function readChanges(block: readonly LogicalLine[], line: number): LdifChange[] {
  const changes: LdifChange[] = [];
  let open: { operation: LdifChange['operation']; attribute: string; values: Buffer[]; line: number } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    const { line: at, ...change } = open;
    if (change.operation === 'add' && change.values.length === 0) throw new LdifSyntaxError(at, `"add: ${change.attribute}" has no values`);
    changes.push(change);
    open = undefined;
  };
  for (const logical of block) {
    if (logical.text.trim() === '-') {
      if (open === undefined) throw new LdifSyntaxError(logical.line, '"-" ends nothing');
      close();
      continue;
    }
    const pair = readPair(logical);
    if (open === undefined) {
      const operation = pair.name.toLowerCase();
      if (operation !== 'add' && operation !== 'delete' && operation !== 'replace')
        throw new LdifSyntaxError(pair.line, 'a change starts with "add:", "delete:" or "replace:"');
      const attribute = pair.value.toString('utf8').trim();
      if (attribute === '') throw new LdifSyntaxError(pair.line, `"${operation}:" names no attribute`);
      open = { operation, attribute, values: [], line: pair.line };
    } else if (pair.name.toLowerCase() === open.attribute.toLowerCase()) open.values.push(pair.value);
    else throw new LdifSyntaxError(pair.line, `expected "${open.attribute}:" or "-"`);
  }
  close();
  if (changes.length === 0) throw new LdifSyntaxError(line, 'a modify record has no changes');
  return changes;
}

function readRename(block: readonly LogicalLine[], line: number): { newRdn: string; deleteOldRdn: boolean; newSuperior?: string } {
  const [newRdn, deleteOldRdn, newSuperior, extra] = block.map(readPair);
  if (newRdn?.name.toLowerCase() !== 'newrdn') throw new LdifSyntaxError(newRdn?.line ?? line, 'expected "newrdn:"');
  if (parseDn(readDn(newRdn)).length !== 1) throw new LdifSyntaxError(newRdn.line, 'newrdn is not one relative name');
  const flag = deleteOldRdn?.value.toString('utf8').trim();
  if (deleteOldRdn?.name.toLowerCase() !== 'deleteoldrdn' || (flag !== '0' && flag !== '1'))
    throw new LdifSyntaxError(deleteOldRdn?.line ?? newRdn.line, 'expected "deleteoldrdn: 0" or "deleteoldrdn: 1"');
  if (newSuperior !== undefined && newSuperior.name.toLowerCase() !== 'newsuperior')
    throw new LdifSyntaxError(newSuperior.line, 'expected "newsuperior:"');
  if (extra !== undefined) throw new LdifSyntaxError(extra.line, 'a modrdn record has no further lines');
  return { newRdn: readDn(newRdn), deleteOldRdn: flag === '1', ...(newSuperior === undefined ? {} : { newSuperior: readDn(newSuperior) }) };
}
