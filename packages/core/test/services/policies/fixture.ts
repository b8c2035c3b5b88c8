import type { Clock } from '@strongroom/engine-sdk';
import { Acl } from '../../../src/services/policies/acl.ts';
import { parsePolicy } from '../../../src/services/policies/policy.ts';
import type { TemplateContext } from '../../../src/services/policies/template.ts';

/** An ACL of policies named p1, p2, … */
export function aclOf(...texts: string[]): Acl {
  return Acl.compile(texts.map((text, i) => parsePolicy(`p${i + 1}`, text)));
}

export interface ManualClock extends Clock {
  advance(seconds: number): void;
}

export function manualClock(start = '2030-01-01T00:00:00.000Z'): ManualClock {
  let millis = Date.parse(start);
  return {
    now: () => new Date(millis),
    millis: () => millis,
    after: () => () => {},
    advance: (seconds) => (millis += seconds * 1000),
  };
}

export const bob: TemplateContext = {
  entity: {
    id: 'e-1',
    name: 'bob',
    metadata: { team: 'red', 'cost.centre': '42', wild: 'a*', plus: 'a+b', path: 'a/b', empty: '' },
    aliases: { auth_ldap_1: { id: 'a-1', name: 'bob@example.org', metadata: { name: 'bob' }, custom_metadata: { site: 'north' } } },
  },
  groups: [{ id: 'g-1', name: 'ops.eu', metadata: { region: 'eu' } }],
};
