import { describe, expect, test } from '@jest/globals';
import { parseSelector, selects } from '../src/label-selector.ts';

const cases: readonly (readonly [string, Record<string, string>, boolean])[] = [
  ['{"matchLabels":{"team":"red"}}', { team: 'red', env: 'prod' }, true],
  ['{"matchLabels":{"team":"red"}}', { team: 'Red' }, false],
  ['{"matchLabels":{"team":"red","env":"prod"}}', { team: 'red' }, false],
  ['matchLabels:\n  team: red\n', { team: 'red' }, true],
  ['matchLabels: {empty: ""}', { empty: '' }, true],
  ['matchLabels: {empty: ""}', {}, false],
  ['matchLabels: {constructor: a}', {}, false],
  ['matchExpressions: [{key: team, operator: In, values: [red, blue]}]', { team: 'blue' }, true],
  ['matchExpressions: [{key: team, operator: In, values: [red, blue]}]', {}, false],
  ['matchExpressions: [{key: team, operator: NotIn, values: [red]}]', {}, true],
  ['matchExpressions: [{key: team, operator: NotIn, values: [red]}]', { team: 'red' }, false],
  ['matchExpressions: [{key: team, operator: Exists}]', { team: '' }, true],
  ['matchExpressions: [{key: __proto__, operator: Exists}]', {}, false],
  ['matchExpressions: [{key: team, operator: DoesNotExist}]', { team: '' }, false],
  ['matchLabels: {team: red}\nmatchExpressions: [{key: env, operator: Exists}]', { team: 'red' }, false],
];

describe('a label selector', () => {
  for (const [selector, labels, expected] of cases) {
    test(`${JSON.stringify(selector)} ${expected ? 'selects' : 'does not select'} ${JSON.stringify(labels)}`, async () => {
      expect(selects(await parseSelector(selector, { name: 'selector', everywhere: 'namespaces' }), labels)).toBe(expected);
    });
  }
});
