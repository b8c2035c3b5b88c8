import { Type, type Static } from 'typebox';
import type { RuleRecord } from './records.ts';

export const RuleData = Type.Object({
  mount: Type.String(),
  secret_name: Type.String({ description: 'The pattern: `*` for the whole mount, or a folder and `/*`.' }),
  exclude: Type.Array(Type.String()),
  max_secrets: Type.Integer(),
  made_by: Type.String({ description: 'Display name of whoever set the rule last. It links what they may read.' }),
  made_at: Type.String(),
  store_type: Type.String(),
  store_name: Type.String(),
  looked_at: Type.Optional(Type.String({ description: 'When the last look at the whole folder ended.' })),
  linked: Type.Optional(Type.Integer({ description: 'Secrets that it links.' })),
  denied: Type.Optional(Type.Integer({ description: 'Secrets that the maker of the rule may not read.' })),
  beyond_max: Type.Optional(Type.Integer({ description: 'Secrets that it does not link, since there are more than `max_secrets`.' })),
  removing: Type.Optional(Type.Boolean()),
});
export type RuleData = Static<typeof RuleData>;

/** A rule, as answers carry it. */
export function ruleData(rule: RuleRecord, mountPath: string): RuleData {
  const [store_type = '', store_name = ''] = rule.place.split('/');
  const { exclude, max_secrets, made_by, made_at, found } = rule;
  return {
    mount: mountPath.replace(/\/$/, ''),
    secret_name: rule.pattern,
    ...{ exclude, max_secrets, made_by, made_at, store_type, store_name },
    ...(found ? { looked_at: found.at, linked: found.linked, denied: found.denied, beyond_max: found.beyond } : {}),
    ...(rule.removing ? { removing: true } : {}),
  };
}
