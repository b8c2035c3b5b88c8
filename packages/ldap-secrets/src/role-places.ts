import { escapeFilterValue, formatDn, parseDn, type DistinguishedName } from '@strongroom/ldap-client';
import { ownEntries, renderSample, type RenderedRole } from './dynamic-role.ts';
import type { AccountMark } from './account-mark.ts';
import type { DynamicRoleRecord } from './records.ts';
import type { RoleEnvironment } from './role-templates.ts';

/** Where entries of a role's accounts are in the directory, and how they are named there. */
export interface RolePlace {
  readonly base: string;
  /** `sub` where the base holds folders by the names of callers. */
  readonly scope: 'one' | 'sub';
  /** Finds all of them, and others. */
  readonly filter: string;
  /** The attribute in whose value the generated name is, with the text before and after it. */
  readonly attribute: string;
  readonly before: string;
  readonly after: string;
}

/** Callers and moments that differ in everything, so that what their names have in common comes from the template alone. */
const SAMPLES = ['token', 'Ada Lovelace', 'zx', '7', 'mo', 'Q', '-', 'é'].map((displayName, index) => ({
  displayName,
  issued: (index + 1) * 1_111_111_111_000,
}));

function samplesOf(role: DynamicRoleRecord, roleName: string, environment: RoleEnvironment): RenderedRole[] {
  return SAMPLES.map((sample) => renderSample(role, { ...sample, roleName }, { ...environment, now: () => new Date(sample.issued) }));
}

/** Whether the names of the role's accounts carry the mark. */
export function isMarked(role: DynamicRoleRecord, roleName: string, mark: AccountMark, environment: RoleEnvironment): boolean {
  return samplesOf(role, roleName, environment).every(({ username }) => mark.isOn(username));
}

/** One place for each entry that the role adds under the generated name. */
export function placesOf(role: DynamicRoleRecord, roleName: string, environment: RoleEnvironment): RolePlace[] {
  const samples = samplesOf(role, roleName, environment);
  const count = Math.min(...samples.map((sample) => ownEntries(sample).length));
  return Array.from({ length: count }, (_, index) => placeOf(samples.map((sample) => partsOf(sample, index)))).filter(
    (place) => place !== undefined,
  );
}

/** The generated name in an entry of the place; undefined for an entry that cannot be of the role. */
export function nameIn(dn: string, { attribute, before, after }: RolePlace): string | undefined {
  const [leaf = []] = parseDn(dn);
  const value = leaf.find(({ type }) => type.toLowerCase() === attribute.toLowerCase())?.value;
  if (value === undefined || value.length <= before.length + after.length) return undefined;
  if (!sameText(value.slice(0, before.length), before) || !sameText(value.slice(value.length - after.length), after)) return undefined;
  return value.slice(before.length, value.length - after.length);
}

interface Parts {
  readonly parents: DistinguishedName;
  readonly attribute: string;
  readonly value: string;
  readonly before: string;
  readonly after: string;
}

/** The entry with the generated name that is nearest to the root: what is below it goes with it. */
function partsOf(sample: RenderedRole, index: number): Parts | undefined {
  const dn = parseDn(ownEntries(sample)[index]!);
  const name = sample.username.toLowerCase();
  const at = dn.findLastIndex((parts) => parts.some(({ value }) => value.toLowerCase().includes(name)));
  const part = dn[at]?.find(({ value }) => value.toLowerCase().includes(name));
  if (!part) return undefined;
  const begins = part.value.toLowerCase().indexOf(name);
  return {
    parents: dn.slice(at + 1),
    attribute: part.type,
    value: part.value,
    before: part.value.slice(0, begins),
    after: part.value.slice(begins + name.length),
  };
}

function placeOf(samples: readonly (Parts | undefined)[]): RolePlace | undefined {
  const [first, ...others] = samples;
  if (!first) return undefined;
  let { parents, value: shared } = first;
  let { length } = parents;
  for (const other of others) {
    // A name that is written another way for every caller cannot be told from those of others.
    if (other?.attribute !== first.attribute || other.before !== first.before || other.after !== first.after) return undefined;
    length = Math.max(length, other.parents.length);
    parents = commonEnd(parents, other.parents);
    shared = commonStart(shared, other.value);
  }
  if (parents.length === 0) return undefined;
  const { attribute, before, after } = first;
  return {
    base: formatDn(parents),
    scope: parents.length === length ? 'one' : 'sub',
    filter: `(${attribute}=${escapeFilterValue(shared)}*)`,
    attribute,
    before,
    after,
  };
}

function commonEnd(a: DistinguishedName, b: DistinguishedName): DistinguishedName {
  let count = 0;
  while (count < a.length && count < b.length && formatDn([a.at(-1 - count)!]) === formatDn([b.at(-1 - count)!])) count += 1;
  return a.slice(a.length - count);
}

function commonStart(a: string, b: string): string {
  let end = 0;
  while (end < a.length && a[end]?.toLowerCase() === b[end]?.toLowerCase()) end += 1;
  return a.slice(0, end).replace(/[\uD800-\uDBFF]$/, '');
}

function sameText(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
