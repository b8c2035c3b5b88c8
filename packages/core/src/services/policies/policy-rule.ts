import { decodeValue, listed } from '@strongroom/engine-sdk';
import { toPlain, type HclBody, type HclItem, type HclPlain, type HclPosition, type HclValue } from '@strongroom/hcl';
import { capabilitySet, DENY, isCapability, OLD_POLICIES, type Capability, type CapabilitySet } from './capability.ts';
import { keyFault, unknownKeys } from './key-faults.ts';
import { KeysFilter } from './keys-filter.ts';
import { pathPattern, PathPatternError, type PathPattern } from './path-pattern.ts';
import { parseTemplate, TemplateSyntaxError, type PathTemplate } from './template.ts';

/** The values of one parameter; none means any value. */
export type ParameterValues = readonly HclPlain[];

/** Something about a policy, and where it stands in the text: both counted from 1. */
export interface PolicyRemark {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** One `path "…" { … }` block. */
export interface PolicyRule {
  /** Where the block begins. */
  readonly line: number;
  readonly column: number;
  /** As written, without a leading slash. */
  readonly path: string;
  /** Exactly one of the two: with selectors the pattern depends on the caller. */
  readonly pattern?: PathPattern;
  readonly template?: PathTemplate;
  readonly capabilities: CapabilitySet;
  /** By lower-case name; `*` stands for every parameter. */
  readonly allowedParameters?: ReadonlyMap<string, ParameterValues>;
  readonly deniedParameters?: ReadonlyMap<string, ParameterValues>;
  /** Lower-case names. */
  readonly requiredParameters: readonly string[];
  /** Seconds; 0 is no limit. */
  readonly minWrappingTtl: number;
  readonly maxWrappingTtl: number;
  /** Most items of one list; 0 is no limit. */
  readonly paginationLimit: number;
  /** By which a list leaves out keys that the caller cannot reach. */
  readonly keysFilter?: KeysFilter;
  /** Milliseconds since the epoch; from then on the block is as if it were not written. */
  readonly expiration?: number;
  readonly comment: string;
  /** Things that were accepted and do nothing; worth a warning to whoever writes the policy. */
  readonly notices: readonly PolicyRemark[];
  /** What a reader of the policy should know about how the block counts. */
  readonly remarks: readonly PolicyRemark[];
}

/** Why a policy cannot be read; the text follows `failed to parse policy: `. */
export class PolicyFault extends Error {
  override readonly name = 'PolicyFault';
  /** What the message says, each where it stands. */
  readonly faults: readonly PolicyRemark[];

  constructor(message: string, faults: readonly PolicyRemark[]) {
    super(message);
    this.faults = faults;
  }

  /** One fault, of what stands there. */
  static at({ line, column }: HclPosition, message: string): PolicyFault {
    return new PolicyFault(message, [{ message, line, column }]);
  }

  /** @throws PolicyFault that lists the keys that the block may not have */
  static requireKnownKeys(body: HclBody, known: readonly string[], prefix = ''): void {
    const faults = unknownKeys(body, known).map((item) => ({ message: prefix + keyFault(item), line: item.line, column: item.column }));
    if (faults.length > 0) throw new PolicyFault(listed(...faults.map(({ message }) => message)), faults);
  }
}

/** Far beyond any path a request may have. */
const LONGEST_PATH = 4096;

const knownKeys = [
  'comment',
  'policy',
  'capabilities',
  'allowed_parameters',
  'denied_parameters',
  'required_parameters',
  'min_wrapping_ttl',
  'max_wrapping_ttl',
  'pagination_limit',
  'list_scan_response_keys_filter_path',
  'expiration',
  'control_group',
  'mfa_methods',
];
/** They ask for the consent of others, or for a second factor at each call. No caller can have these here, so a block that asks for one denies its path. */
const unmet = ['control_group', 'mfa_methods'];

/** @throws PolicyFault */
export function parseRule(item: HclItem): PolicyRule {
  const label = item.labels[0];
  if (label === undefined) throw PolicyFault.at(item, 'a path block names no path');
  const named = JSON.stringify(label);
  const fault = (text: string, at: HclPosition = item): PolicyFault => PolicyFault.at(at, `path ${named}: ${text}`);
  if (item.labels.length > 1 || item.value.kind !== 'object') throw fault('expected one block of keys after the path');
  const body = item.value.body;
  PolicyFault.requireKnownKeys(body, knownKeys, `path ${named}: `);
  const path = label.startsWith('/') ? label.slice(1) : label;
  if (path.length > LONGEST_PATH) throw PolicyFault.at(item, `a path is longer than ${LONGEST_PATH} characters`);
  const read = new BlockReader(body, fault);

  const capabilities = [...(read.strings('capabilities') ?? [])];
  const old = read.string('policy');
  if (old !== undefined && old !== '') {
    const meant = OLD_POLICIES.get(old);
    if (!meant) throw fault(`invalid policy ${JSON.stringify(old)}`, read.at('policy'));
    capabilities.push(...meant);
  }
  const wrong = capabilities.find((name) => !isCapability(name));
  if (wrong !== undefined) throw fault(`invalid capability ${JSON.stringify(wrong)}`, read.at('capabilities', wrong));

  const minWrappingTtl = read.duration('min_wrapping_ttl');
  const maxWrappingTtl = read.duration('max_wrapping_ttl');
  if (maxWrappingTtl !== 0 && maxWrappingTtl < minWrappingTtl)
    throw fault('max_wrapping_ttl cannot be less than min_wrapping_ttl', read.at('max_wrapping_ttl'));

  const allowed = read.parameters('allowed_parameters');
  const denied = read.parameters('denied_parameters');
  const expiration = read.time('expiration');
  const keysFilter = read.keysFilter('list_scan_response_keys_filter_path');
  const { template, pattern } = matching(path, item, fault);
  const { line, column } = item;
  const remark = (text: string, at: HclPosition = item): PolicyRemark => ({
    message: `path ${named}: ${text}`,
    line: at.line,
    column: at.column,
  });
  const asked = unmet.filter((key) => read.holds(key));
  const granted = asked.length > 0 ? DENY : capabilitySet(capabilities as Capability[]);
  const denies = granted === DENY;
  return {
    line,
    column,
    path,
    ...(template ? { template } : {}),
    ...(pattern ? { pattern } : {}),
    capabilities: granted,
    ...(allowed ? { allowedParameters: allowed } : {}),
    ...(denied ? { deniedParameters: denied } : {}),
    requiredParameters: [...new Set((read.strings('required_parameters') ?? []).map((name) => name.toLowerCase()))],
    minWrappingTtl,
    maxWrappingTtl,
    paginationLimit: read.count('pagination_limit'),
    ...(keysFilter ? { keysFilter } : {}),
    ...(expiration === undefined ? {} : { expiration }),
    comment: read.string('comment') ?? '',
    remarks:
      template && denies
        ? [remark('this block denies every path that it could name to a caller who does not have what its selectors name')]
        : [],
    notices: [
      ...unreachable(label, denies).map((reason) => remark(reason)),
      ...asked.map((key) => remark(`this server does not support ${key}, so that this block denies its path`, read.at(key))),
      ...(template?.selectors ?? [])
        .filter((selector) => !selector.resolve)
        .map((selector) => {
          const effect = denies ? 'denies every path that it could name' : 'never applies';
          return remark(`${JSON.stringify(selector.text)} names nothing known, so that this block ${effect}`);
        }),
    ],
  };
}

/** Why a path never matches a request as it is written. */
function unreachable(written: string, denies: boolean): string[] {
  const path = written.replace(/^\//, '');
  const reasons: string[] = [];
  if (/\/\/|^\//.test(path)) reasons.push('no request has an empty segment, so this block never applies');
  if (/(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) reasons.push('no request has a segment "." or "..", so this block never applies');
  if (path.startsWith('v1/')) reasons.push('paths are written without v1/, so this block applies to a mount of that name alone');
  if (/%[0-9a-fA-F]{2}/.test(path)) reasons.push('paths are written decoded: a percent sign stands for itself');
  if (path !== path.trim() || /[\u0000-\u001f\u007f]/.test(path))
    reasons.push('it begins or ends with a space, or holds a control character');
  if (denies && path.endsWith('/')) reasons.push('a path that ends in a slash applies to lists only; deny it without the slash as well');
  return reasons;
}

function matching(path: string, item: HclItem, fault: (text: string) => PolicyFault): { template?: PathTemplate; pattern?: PathPattern } {
  try {
    const template = parseTemplate(path);
    if (!template) return { pattern: pathPattern(path) };
    for (const text of template.texts) pathPattern(text);
    return { template };
  } catch (error) {
    if (error instanceof TemplateSyntaxError) throw PolicyFault.at(item, error.message);
    if (error instanceof PathPatternError) throw fault(error.message);
    throw error;
  }
}

/** Reads the keys of one block. Where a key repeats as a block, the parts are joined; else the last one counts. */
class BlockReader {
  readonly #body: HclBody;
  readonly #fault: (text: string, at?: HclPosition) => PolicyFault;

  constructor(body: HclBody, fault: (text: string, at?: HclPosition) => PolicyFault) {
    this.#body = body;
    this.#fault = fault;
  }

  /** Where the last value of the key stands, or this word of its list; undefined where nothing does. */
  at(key: string, word?: string): HclPosition | undefined {
    const value = this.#values(key).at(-1);
    const item = value?.kind === 'list' ? value.items.find((one) => one.kind === 'string' && one.value === word) : undefined;
    return item ?? value;
  }

  #values(key: string): HclValue[] {
    return this.#body.filter((item) => item.key === key).map((item) => item.value);
  }

  /** Whether the key is there with anything in it. */
  holds(key: string): boolean {
    return this.#values(key).some((value) => {
      if (value.kind === 'list') return value.items.length > 0;
      return value.kind === 'object' ? value.body.length > 0 : value.kind !== 'null';
    });
  }

  string(key: string): string | undefined {
    const value = this.#values(key).at(-1);
    if (value === undefined || value.kind === 'null') return undefined;
    if (value.kind !== 'string') throw this.#fault(`${key} must be a string`, value);
    return value.value;
  }

  strings(key: string): string[] | undefined {
    const value = this.#values(key).at(-1);
    if (value === undefined || value.kind === 'null') return undefined;
    if (value.kind !== 'list') throw this.#fault(`${key} must be a list of strings`, value);
    return value.items.map((item) => {
      if (item.kind !== 'string') throw this.#fault(`${key} must be a list of strings`, item);
      return item.value;
    });
  }

  duration(key: string): number {
    const value = this.#values(key).at(-1);
    if (value === undefined || value.kind === 'null') return 0;
    if (value.kind !== 'string' && value.kind !== 'number') throw this.#fault(`${key} must be a duration`, value);
    try {
      return decodeValue('duration', value.value) as number;
    } catch (error) {
      throw this.#fault(`error parsing ${key}: ${(error as Error).message}`, this.at(key));
    }
  }

  count(key: string): number {
    const value = this.#values(key).at(-1);
    if (value === undefined || value.kind === 'null') return 0;
    if (value.kind !== 'number' || !value.integer || !Number.isSafeInteger(value.value) || value.value < 0) {
      throw this.#fault(`${key} must be a whole number that is not negative`, value);
    }
    return value.value;
  }

  keysFilter(key: string): KeysFilter | undefined {
    const source = this.string(key);
    if (source === undefined || source === '') return undefined;
    try {
      return new KeysFilter(source);
    } catch (error) {
      throw this.#fault(`error parsing ${key}: ${(error as Error).message}`, this.at(key));
    }
  }

  time(key: string): number | undefined {
    const text = this.string(key);
    if (text === undefined || text === '') return undefined;
    try {
      return (decodeValue('time', text) as Date).getTime();
    } catch (error) {
      throw this.#fault(`error parsing ${key}: ${(error as Error).message}`, this.at(key));
    }
  }

  parameters(key: string): ReadonlyMap<string, ParameterValues> | undefined {
    const values = this.#values(key).filter((value) => value.kind !== 'null');
    if (values.length === 0) return undefined;
    const parameters = new Map<string, HclPlain[]>();
    for (const value of values) {
      if (value.kind !== 'object') throw this.#fault(`${key} must map each parameter to a list of values`, value);
      for (const item of value.body) {
        if (item.labels.length > 0) throw this.#fault(`${key} must map each parameter to a list of values`, item);
        const name = item.key.toLowerCase();
        const added = this.#parameterValues(item, key);
        const before = parameters.get(name);
        if (!before) parameters.set(name, added);
        // No values at all means any value, and stays so.
        else if (added.length === 0 || before.length === 0) before.length = 0;
        else before.push(...added);
      }
    }
    return parameters;
  }

  #parameterValues(item: HclItem, key: string): HclPlain[] {
    const plain = toPlain([item])[item.key];
    if (Array.isArray(plain)) return plain;
    // JSON's list of one object comes as the object itself.
    if (item.value.kind === 'object') return [plain as HclPlain];
    throw this.#fault(`${key} must map each parameter to a list of values; ${JSON.stringify(item.key)} has something else`, item);
  }
}
