import { HclSyntaxError, parseHcl, type HclBody, type HclItem, type HclValue } from '@strongroom/hcl';
import type { PasswordPolicy, PasswordRule } from './policy.ts';
import { passwordPolicy } from './policy.ts';
import { PasswordPolicyError } from './policy-error.ts';

/**
 * Reads a policy in HCL or JSON: `length = N` and `rule "charset" { charset = "…" min-chars = n }` any number of times.
 * Other keys are passed over; where a key repeats, the last one counts.
 * Throws `PasswordPolicyError`, whose message is the text OpenBao puts behind `invalid password policy: `.
 */
export function parsePasswordPolicy(text: string): PasswordPolicy {
  const body = parseText(text);
  const length = wholeNumber(body, 'length', 'failed to decode configuration');
  const rules = body.filter((item) => item.key === 'rule').flatMap(rulesOf);
  return passwordPolicy(length, rules);
}

function parseText(text: string): HclBody {
  try {
    return parseHcl(text, { labels: { rule: 1 } });
  } catch (error) {
    if (!(error instanceof HclSyntaxError)) throw error;
    throw complaint(`unable to decode: ${error.message}`);
  }
}

function rulesOf(item: HclItem): PasswordRule[] {
  if (item.value.kind === 'list' && item.value.items.length === 0) return [];
  if (item.value.kind !== 'object') {
    throw complaint(`unable to retrieve rules: '' source data must be an array or slice, got ${typeName(item.value)}`);
  }
  const [type, ...more] = item.labels;
  if (type !== undefined) return [rule(type, more.length > 0 ? [] : item.value.body)];
  if (item.value.body.length === 0) throw complaint('unable to parse rules: unable to get rule info: rule is empty');
  return item.value.body.map((inner) => {
    if (inner.value.kind === 'object') return rule(inner.key, inner.value.body);
    throw complaint(
      inner.value.kind === 'list'
        ? 'unable to parse rules: unable to get rule info: rule info cannot be empty'
        : `unable to parse rules: unable to get rule info: unable to get rule data: '' source data must be an array or slice, got ${typeName(inner.value)}`,
    );
  });
}

function rule(type: string, body: HclBody): PasswordRule {
  if (type !== 'charset') throw complaint(`unable to parse rules: unable to parse rule ${type}: unrecognized rule type ${type}`);
  const where = 'unable to parse rules: unable to parse rule charset: failed to parse charset restriction';
  const charset = field(body, 'charset');
  if (charset !== undefined && charset.kind !== 'string') {
    throw complaint(`${where}: ${DECODING}'charset' source data must be an array or slice, got ${typeName(charset)}`);
  }
  return { charset: charset?.value ?? '', minChars: wholeNumber(body, 'min-chars', where) };
}

const DECODING = 'decoding failed due to the following error(s):\n\n';

/** The field's whole number, fractions cut off; 0 when absent. */
function wholeNumber(body: HclBody, name: string, where: string): number {
  const value = field(body, name);
  if (value === undefined) return 0;
  if (value.kind !== 'number')
    throw complaint(`${where}: ${DECODING}'${name}' expected type 'int', got unconvertible type '${typeName(value)}'`);
  if (!Number.isSafeInteger(Math.trunc(value.value))) {
    throw complaint(`unable to decode: strconv.ParseInt: parsing ${JSON.stringify(value.text)}: value out of range`);
  }
  return Math.trunc(value.value);
}

/** The last item of that name; where there is none, of that name in another case. */
function field(body: HclBody, name: string): HclValue | undefined {
  const item = body.findLast(({ key }) => key === name) ?? body.findLast(({ key }) => key.toLowerCase() === name);
  return item?.value;
}

function typeName(value: HclValue): string {
  switch (value.kind) {
    case 'object':
      return '[]map[string]interface {}';
    case 'list':
      return '[]interface {}';
    case 'number':
      return value.integer ? 'int' : 'float64';
    case 'null':
      return 'string';
    default:
      return value.kind;
  }
}

function complaint(reason: string): PasswordPolicyError {
  return new PasswordPolicyError('text', [reason]);
}
