import { BadRequest } from '@strongroom/engine-sdk';
import type { AssociationRecord } from './records.ts';

/** The most exclusions of a rule. */
const MOST_EXCLUDED = 200;

/** Whether a `secret_name` means all secrets of a folder, or of the mount, rather than one secret. */
export function isPattern(name: string): boolean {
  return name === '*' || name.endsWith('/*');
}

/** What the names below a pattern begin with: '' for the whole mount. */
export function prefixOf(pattern: string): string {
  return pattern.slice(0, -1);
}

/** Whether a rule means the secret. */
export function matches({ pattern, exclude }: { readonly pattern: string; readonly exclude: readonly string[] }, name: string): boolean {
  const within = (one: string): boolean => (isPattern(one) ? name.startsWith(prefixOf(one)) : name === one);
  return within(pattern) && !exclude.some(within);
}

/** Exclusions in canonical form. @throws BadRequest for one that does not lie below the pattern */
export function checkedExclusions(pattern: string, exclude: readonly string[]): string[] {
  const names = [...new Set(exclude.map((name) => name.replace(/^\/+/, '')))].sort();
  if (names.length > MOST_EXCLUDED) throw new BadRequest(`exclude: send at most ${MOST_EXCLUDED} names`);
  for (const name of names) {
    const fits = name.startsWith(prefixOf(pattern)) && name !== pattern && !name.endsWith('/') && name !== '';
    if (!fits) {
      throw new BadRequest(
        `exclude: ${JSON.stringify(name)} is no secret below ${JSON.stringify(pattern)}, and no folder there: write a secret such as ${prefixOf(pattern)}app, or a folder such as ${prefixOf(pattern)}app/*`,
      );
    }
  }
  return names;
}

/** Why a caller cannot take away a link that a rule would make again. */
export function refuseRuled(association: Pick<AssociationRecord, 'rules' | 'by_rule_alone' | 'wanted' | 'secret_name'> | undefined): void {
  if (!association?.rules?.length || association.by_rule_alone !== true || association.wanted === 'removed') return;
  const [pattern] = association.rules;
  throw new BadRequest(
    `secret_name: ${JSON.stringify(association.secret_name)} is linked by the rule ${JSON.stringify(pattern)}: exclude it there, or remove the rule`,
  );
}
