import { BadRequest } from '@strongroom/engine-sdk';
import { HclSyntaxError, parseHcl, requireUniqueKeys, type HclBody } from '@strongroom/hcl';
import { parseRule, PolicyFault, type PolicyRule } from './policy-rule.ts';
import type { TemplateRules } from './template.ts';

/** A policy, read and checked; what it means for one caller comes from `Acl.compile`. */
export interface Policy {
  readonly name: string;
  /** HCL or JSON, decoded. */
  readonly text: string;
  readonly rules: readonly PolicyRule[];
  /** Whether any path depends on the caller. */
  readonly templated: boolean;
  readonly templateRules: TemplateRules;
  /** What the writer should know; see `PolicyRule.notices`. */
  readonly notices: readonly string[];
  /** What its readers should know; see `PolicyRule.remarks`. */
  readonly remarks: readonly string[];
}

const plainValues: TemplateRules = { allowWildcards: false, allowSlashes: false };

/**
 * Reads HCL, JSON, or base64 of either.
 * @throws BadRequest `failed to parse policy: …` with Vault's and OpenBao's texts.
 */
export function parsePolicy(name: string, text: string, templateRules: TemplateRules = plainValues): Policy {
  const decoded = decodePolicyText(text);
  const rules = read(decoded);
  return {
    name,
    text: decoded,
    rules,
    templated: rules.some((rule) => rule.template !== undefined),
    templateRules,
    notices: rules.flatMap((rule) => rule.notices.map(({ message }) => message)),
    remarks: rules.flatMap((rule) => rule.remarks.map(({ message }) => message)),
  };
}

/** Policy texts may come as base64, so that a shell need not quote them. */
export function decodePolicyText(text: string): string {
  const compact = text.replace(/[\r\n]/g, '');
  if (compact === '' || compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) return text;
  return Buffer.from(compact, 'base64').toString('utf8');
}

function read(text: string): PolicyRule[] {
  try {
    const body = policyBody(text);
    requireUniqueKeys(body);
    PolicyFault.requireKnownKeys(body, POLICY_KEYS);
    return pathItems(body).map(parseRule);
  } catch (error) {
    if (error instanceof HclSyntaxError || error instanceof PolicyFault) {
      throw new BadRequest(`failed to parse policy: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** The keys that a policy may have. */
export const POLICY_KEYS = ['name', 'path'];

/** The items of a policy's text. @throws HclSyntaxError */
export function policyBody(text: string): HclBody {
  return parseHcl(text, { labels: { path: 1 } });
}

/** The `path` blocks of a policy. */
export function pathItems(body: HclBody): HclBody {
  // `{"path": {}}` of generated JSON holds no path at all.
  return body.filter(
    ({ key, labels, value }) => key === 'path' && !(labels.length === 0 && value.kind === 'object' && value.body.length === 0),
  );
}
