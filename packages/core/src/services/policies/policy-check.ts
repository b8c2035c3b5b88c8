import { HclSyntaxError, requireUniqueKeys } from '@strongroom/hcl';
import { parseRule, PolicyFault, type PolicyRemark, type PolicyRule } from './policy-rule.ts';
import { decodePolicyText, pathItems, POLICY_KEYS, policyBody } from './policy.ts';

/** `error`: the policy cannot be written. `warning`: a part of it has no effect. `info`: it may not mean what it seems to. */
export interface PolicyComplaint extends PolicyRemark {
  readonly severity: 'error' | 'warning' | 'info';
}

export interface PolicyCheck {
  /** Whether a write would accept the text. */
  readonly valid: boolean;
  /** In the order of the text. */
  readonly complaints: readonly PolicyComplaint[];
}

/**
 * Everything that can be said about a policy's text: HCL, JSON or base64 of either, whose positions are those of the decoded text. Unlike a write it does not stop
 * at the first fault, as far as the text can be parsed.
 */
export function checkPolicy(text: string): PolicyCheck {
  const complaints: PolicyComplaint[] = [];
  const valid = collect(decodePolicyText(text), complaints);
  return { valid, complaints: complaints.sort((a, b) => a.line - b.line || a.column - b.column) };
}

function collect(text: string, complaints: PolicyComplaint[]): boolean {
  let valid = true;
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      valid = false;
      complaints.push(...faultsOf(error).map((fault) => ({ severity: 'error' as const, ...fault })));
      return undefined;
    }
  };
  const body = attempt(() => policyBody(text));
  if (!body) return false;
  attempt(() => requireUniqueKeys(body));
  attempt(() => PolicyFault.requireKnownKeys(body, POLICY_KEYS));
  const rules = pathItems(body).flatMap((item) => attempt(() => parseRule(item)) ?? []);
  for (const rule of rules) {
    for (const notice of rule.notices) complaints.push({ severity: 'warning', ...notice });
    for (const remark of rule.remarks) complaints.push({ severity: 'info', ...remark });
  }
  complaints.push(...hints(rules));
  return valid;
}

/** @throws what is no fault of the text */
function faultsOf(error: unknown): readonly PolicyRemark[] {
  if (error instanceof PolicyFault) return error.faults;
  if (error instanceof HclSyntaxError) return [{ message: error.reason, line: error.line, column: error.column }];
  throw error;
}

/** What is allowed to be written and is often not what is meant. */
function hints(rules: readonly PolicyRule[]): PolicyComplaint[] {
  const first = new Map<string, PolicyRule>();
  return rules.flatMap((rule) => {
    const { path, line, column } = rule;
    const hint = (message: string): PolicyComplaint => ({
      severity: 'info',
      message: `path ${JSON.stringify(path)}: ${message}`,
      line,
      column,
    });
    const before = first.get(path);
    if (!before) first.set(path, rule);
    return [
      ...(before ? [hint(`line ${before.line} has a block for the same path: both count together`)] : []),
      ...(rule.capabilities === 0 ? [hint('this block grants no capability')] : []),
      ...(path.slice(0, -1).includes('*') ? [hint('a * stands for itself except at the end; + stands for one segment')] : []),
    ];
  });
}
