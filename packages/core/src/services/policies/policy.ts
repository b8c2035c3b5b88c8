import { BadRequest } from '@strongroom/engine-sdk';
import { HclSyntaxError, parseHcl, requireUniqueKeys, type HclBody } from '@strongroom/hcl';
import { keyFaults } from './key-faults.ts';
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
    notices: rules.flatMap((rule) => rule.notices),
    remarks: rules.flatMap((rule) => rule.remarks),
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
    const body = parseHcl(text, { labels: { path: 1 } });
    requireUniqueKeys(body);
    const faults = keyFaults(body, ['name', 'path']);
    if (faults !== undefined) throw new PolicyFault(faults);
    return pathItems(body).map(parseRule);
  } catch (error) {
    if (error instanceof HclSyntaxError || error instanceof PolicyFault) {
      throw new BadRequest(`failed to parse policy: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

function pathItems(body: HclBody): HclBody {
  // `{"path": {}}` of generated JSON holds no path at all.
  return body.filter(
    ({ key, labels, value }) => key === 'path' && !(labels.length === 0 && value.kind === 'object' && value.body.length === 0),
  );
}
