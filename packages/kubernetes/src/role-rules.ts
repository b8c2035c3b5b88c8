import { BadRequest } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';

const REFUSED = "failed to parse 'generated_role_rules' as k8s.io/api/rbac/v1/Policy object";
const LONGEST = 65_536;
const Texts = Type.Array(Type.String());

/** One rule of a role of Kubernetes. */
const PolicyRule = Type.Object(
  {
    verbs: Texts,
    apiGroups: Type.Optional(Texts),
    resources: Type.Optional(Texts),
    resourceNames: Type.Optional(Texts),
    nonResourceURLs: Type.Optional(Texts),
  },
  { additionalProperties: false },
);
export type PolicyRule = Static<typeof PolicyRule>;

/** The rules in `{"rules": […]}`, as JSON or YAML. @throws BadRequest that says which rule is wrong */
export async function parseRules(text: string): Promise<PolicyRule[]> {
  if (text.length > LONGEST) throw new BadRequest(`${REFUSED}: it is longer than ${LONGEST} characters`);
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text);
  let value: unknown;
  try {
    if (document.errors.length === 0) value = document.toJS({ maxAliasCount: 0 });
  } catch {
    // Answered below.
  }
  const rules = typeof value === 'object' && value !== null && 'rules' in value ? value.rules : undefined;
  if (!Array.isArray(rules)) throw new BadRequest(`${REFUSED}: write {"rules": […]}`);
  for (const [index, rule] of rules.entries()) {
    const [problem] = Value.Errors(PolicyRule, rule);
    if (problem) throw new BadRequest(`${REFUSED}: rule ${index + 1}${problem.instancePath}: ${problem.message}`);
  }
  return rules as PolicyRule[];
}
