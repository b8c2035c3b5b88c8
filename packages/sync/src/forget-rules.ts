import type { Records, RuleRecord } from './records.ts';

/** What is stored of the rules of a destination goes with it: its links are taken away by themselves. */
export async function forgetRules(records: Records, goes: (rule: RuleRecord) => boolean): Promise<void> {
  for (const [id, rule] of await records.rules.entries({})) {
    if (!goes(rule)) continue;
    for (const marker of await records.ruled.list({ prefix: `${rule.id}/` })) await records.ruled.delete(marker);
    await records.rules.delete(id);
  }
}
