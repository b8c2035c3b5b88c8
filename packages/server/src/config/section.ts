import type { HclBody, HclItem, HclValue } from '@strongroom/hcl';
import { closest, DurationError, parseDuration } from '@strongroom/engine-sdk';
import type { Complaints, Place } from './complaints.ts';
import { placeText } from './complaints.ts';

/** One assignment or block, and the file it stands in. */
export interface Sourced {
  readonly item: HclItem;
  readonly file: string;
}

export interface Block {
  readonly labels: readonly string[];
  readonly section: Section;
  readonly place: Place;
}

/**
 * The keys of one block, or of all files together. Every key that is asked for is known; `done` complains about the rest. A value of
 * the wrong kind is complained about and read as absent.
 */
export class Section {
  /** `listener "tcp"`, for complaints; '' at the top. */
  readonly name: string;
  readonly #place: Place;
  readonly #complaints: Complaints;
  readonly #items = new Map<string, Sourced[]>();
  readonly #known = new Set<string>();

  constructor(name: string, items: readonly Sourced[], place: Place, complaints: Complaints) {
    this.name = name;
    this.#place = place;
    this.#complaints = complaints;
    for (const sourced of items) {
      const same = this.#items.get(sourced.item.key);
      if (same) same.push(sourced);
      else this.#items.set(sourced.item.key, [sourced]);
    }
  }

  static ofBody(name: string, body: HclBody, place: Place, complaints: Complaints): Section {
    return new Section(
      name,
      body.map((item) => ({ item, file: place.file })),
      place,
      complaints,
    );
  }

  /** Where a key stands; where the section begins when it is absent. */
  placeOf(key: string): Place {
    const found = this.#items.get(key)?.at(-1);
    return found ? placeOf(found) : this.#place;
  }

  has(key: string): boolean {
    return this.#items.has(key);
  }

  complain(key: string, text: string): void {
    this.#complaints.add(this.placeOf(key), `${this.#path(key)} ${text}`);
  }

  /** A complaint about the section itself. */
  complainHere(text: string): void {
    this.#complaints.add(this.#place, `${this.name === '' ? '' : `${this.name}: `}${text}`);
  }

  /** Keys that are taken and do nothing, each with the reason. */
  ignore(reasons: Readonly<Record<string, string>>): void {
    for (const [key, reason] of Object.entries(reasons)) {
      this.#known.add(key);
      const found = this.#items.get(key)?.[0];
      if (found) this.#complaints.notice(placeOf(found), `${this.#path(key)} has no effect: ${reason}`);
    }
  }

  /** Keys that must not be there, each with the reason. */
  refuse(reasons: Readonly<Record<string, string>>): void {
    for (const [key, reason] of Object.entries(reasons)) {
      this.#known.add(key);
      if (this.#items.has(key)) this.complain(key, reason);
    }
  }

  notice(key: string, text: string): void {
    this.#complaints.notice(this.placeOf(key), `${this.#path(key)} ${text}`);
  }

  string(key: string): string | undefined {
    const value = this.#value(key);
    if (value?.kind === 'number') return value.text;
    if (value === undefined || value.kind === 'string') return value?.value;
    return this.#wrongKind(key, 'a string', value);
  }

  /** Like `string`; an empty one counts as absent. */
  text(key: string): string | undefined {
    return this.string(key) || undefined;
  }

  /** Like `string`, with true and false as texts. */
  scalar(key: string): string | undefined {
    const value = this.#value(key);
    return value && this.#scalarOf(key, value);
  }

  oneOf<const T extends string>(key: string, choices: readonly T[], others: Readonly<Record<string, T>> = {}): T | undefined {
    const text = this.text(key)?.toLowerCase();
    if (text === undefined) return undefined;
    const choice = Object.hasOwn(others, text) ? others[text] : choices.find((one) => one.toLowerCase() === text);
    if (choice === undefined) this.complain(key, `is ${shown(text)}; it must be ${listed(choices)}`);
    return choice;
  }

  bool(key: string): boolean | undefined {
    const value = this.#value(key);
    if (value === undefined) return undefined;
    if (value.kind === 'bool') return value.value;
    const text = value.kind === 'string' || value.kind === 'number' ? String(value.value).toLowerCase() : '';
    if (['true', '1', 't'].includes(text)) return true;
    if (['false', '0', 'f', ''].includes(text) && value.kind !== 'list' && value.kind !== 'object') return false;
    return this.#wrongKind(key, 'true or false', value);
  }

  integer(key: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } = {}): number | undefined {
    const value = this.#value(key);
    if (value === undefined) return undefined;
    const number =
      value.kind === 'number' && value.integer
        ? value.value
        : value.kind === 'string' && /^-?\d+$/.test(value.value)
          ? Number(value.value)
          : undefined;
    if (number === undefined || !Number.isSafeInteger(number)) return this.#wrongKind(key, 'a whole number', value);
    if (number >= min && number <= max) return number;
    this.complain(key, `is ${number}; it must be ${max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `between ${min} and ${max}`}`);
    return undefined;
  }

  /** Seconds: `3600`, `"1h"`, `"7d"`. */
  duration(key: string, { min = 0 }: { min?: number } = {}): number | undefined {
    const value = this.#value(key);
    if (value === undefined) return undefined;
    if (value.kind !== 'string' && !(value.kind === 'number' && value.integer))
      return this.#wrongKind(key, 'a duration such as "1h"', value);
    try {
      const seconds = parseDuration(value.kind === 'string' ? value.value : value.text);
      if (seconds >= min) return seconds;
      this.complain(key, min === 0 ? 'cannot be negative' : `must be at least ${min} seconds`);
    } catch (error) {
      if (!(error instanceof DurationError)) throw error;
      return this.#wrongKind(key, 'a duration such as "1h"', value);
    }
    return undefined;
  }

  /** Bytes: `1048576`, `"32MiB"`, `"32mb"`. Units are powers of 1024. */
  bytes(key: string, { min = 0 }: { min?: number } = {}): number | undefined {
    const value = this.#value(key);
    if (value === undefined) return undefined;
    const text = value.kind === 'string' ? value.value : value.kind === 'number' && value.integer ? value.text : '';
    const match = /^(\d{1,15})\s*(?:([kmgt])?(?:i?b)?)$/i.exec(text);
    const size = match ? Number(match[1]) * 1024 ** ' kmgt'.indexOf((match[2] ?? ' ').toLowerCase()) : Number.NaN;
    if (!Number.isSafeInteger(size)) return this.#wrongKind(key, 'a size such as "32MiB"', value);
    if (size >= min) return size;
    this.complain(key, `must be at least ${min} bytes`);
    return undefined;
  }

  /** A list of strings, or one string with commas. */
  strings(key: string): readonly string[] | undefined {
    const value = this.#value(key);
    if (value === undefined) return undefined;
    const items = value.kind === 'list' ? value.items : [value];
    const texts: string[] = [];
    for (const item of items) {
      if (item.kind === 'string') texts.push(...item.value.split(','));
      else return this.#wrongKind(key, 'a string or a list of strings', value);
    }
    return texts.map((text) => text.trim()).filter((text) => text !== '');
  }

  /** `key = { a = "x" }` or `key { a = "x" }`: strings by name; numbers and booleans as written. */
  map(key: string): Readonly<Record<string, string>> | undefined {
    const blocks = this.blocks(key, 0);
    if (blocks.length === 0) return undefined;
    const map: Record<string, string> = {};
    for (const { section } of blocks) Object.assign(map, section.#all());
    return map;
  }

  /** `key = { Name = ["a", "b"] }`: values of one name joined with `; `. */
  headerMap(key: string): Readonly<Record<string, string>> {
    const map: Record<string, string> = {};
    for (const { section } of this.blocks(key, 0)) {
      for (const name of section.#items.keys()) {
        const value = section.#value(name);
        if (value?.kind === 'list' && value.items.every((item) => item.kind === 'string'))
          map[name] = value.items.map((item) => item.value).join('; ');
        else if (value?.kind === 'string') map[name] = value.value;
        else if (value) section.#wrongKind(name, 'a string or a list of strings', value);
      }
    }
    return map;
  }

  /** The blocks of this name, with exactly so many labels. */
  blocks(key: string, labels: number): Block[] {
    this.#known.add(key);
    return (this.#items.get(key) ?? []).flatMap((sourced): Block[] => {
      const { item } = sourced;
      const place = placeOf(sourced);
      if (item.value.kind !== 'object') {
        this.#complaints.add(place, `${this.#path(key)} must be a block: ${blockForm(key, labels)}`);
        return [];
      }
      if (item.labels.length !== labels) {
        this.#complaints.add(
          place,
          `${this.#path(key)} takes ${labels === 0 ? 'no label' : labels === 1 ? 'one label' : `${labels} labels`}: ${blockForm(key, labels)}`,
        );
        return [];
      }
      const name = [this.#path(key), ...item.labels.map(shown)].join(' ');
      return [{ labels: item.labels, section: Section.ofBody(name, item.value.body, place, this.#complaints), place }];
    });
  }

  /** What nobody has asked for yet: texts, with numbers, true and false as written. A value of another kind is complained about. */
  rest(): Readonly<Record<string, string>> {
    const found: [string, string][] = [];
    for (const key of this.#items.keys()) {
      const text = this.#known.has(key) ? undefined : this.scalar(key);
      if (text !== undefined) found.push([key, text]);
    }
    return Object.fromEntries(found);
  }

  /** Complains about keys that nobody asked for. */
  done(): void {
    for (const [key, items] of this.#items) {
      if (this.#known.has(key)) continue;
      const near = closest(key, this.#known);
      const text = `${this.#path(key)} is not a known key${near === undefined ? '' : `; did you mean ${near}?`}`;
      for (const sourced of items) this.#complaints.add(placeOf(sourced), text);
    }
  }

  /** The last value of a key; one file that sets it twice is complained about, later files win. */
  #value(key: string): HclValue | undefined {
    this.#known.add(key);
    const items = this.#items.get(key);
    if (!items) return undefined;
    for (const [index, sourced] of items.entries()) {
      const earlier = items.slice(0, index).find(({ file }) => file === sourced.file);
      if (earlier) this.#complaints.add(placeOf(sourced), `${this.#path(key)} is set twice: first at ${placeText(placeOf(earlier))}`);
    }
    const { item } = items.at(-1)!;
    if (item.labels.length > 0) {
      this.complain(key, 'must be a value, not a block');
      return undefined;
    }
    return item.value.kind === 'null' ? undefined : item.value;
  }

  #all(): Record<string, string> {
    const map: Record<string, string> = {};
    for (const key of this.#items.keys()) {
      const value = this.#value(key);
      const text = value && this.#scalarOf(key, value);
      if (text !== undefined) map[key] = text;
    }
    return map;
  }

  #scalarOf(key: string, value: HclValue): string | undefined {
    if (value.kind === 'bool') return String(value.value);
    if (value.kind === 'number') return value.text;
    return value.kind === 'string' ? value.value : this.#wrongKind(key, 'a string', value);
  }

  #wrongKind(key: string, wanted: string, value: HclValue): undefined {
    this.complain(key, `must be ${wanted}, not ${kindText(value)}`);
    return undefined;
  }

  #path(key: string): string {
    return this.name === '' ? key.slice(0, 64) : `${this.name}: ${key.slice(0, 64)}`;
  }
}

function placeOf({ item, file }: Sourced): Place {
  return { file, line: item.line };
}

/** Kinds only: a value may be a secret in the wrong place. */
function kindText(value: HclValue): string {
  const texts = {
    string: 'this text',
    number: 'this number',
    bool: 'true or false',
    null: 'null',
    list: 'a list',
    object: 'a block',
  } as const;
  return texts[value.kind];
}

function blockForm(key: string, labels: number): string {
  return `${key}${['', ' "type"', ' "type" "path"'][labels] ?? ''} { … }`;
}

export function shown(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}

export function listed(choices: readonly string[]): string {
  const quoted = choices.map((choice) => JSON.stringify(choice));
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)!}`;
}
