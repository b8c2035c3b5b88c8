import { describe, expect, test } from '@jest/globals';
import { parseTemplate, resolveTemplate, TemplateSyntaxError } from '../../../src/services/policies/template.ts';
import { bob } from './fixture.ts';

const strict = { allowWildcards: false, allowSlashes: false };
const fill = (text: string, rules = strict, context: typeof bob | undefined = bob) => resolveTemplate(parseTemplate(text)!, context, rules);

describe('selectors in a path', () => {
  test.each([
    ['{{identity.entity.id}}', 'e-1'],
    ['{{ identity.entity.name }}', 'bob'],
    ['{{identity.entity.metadata.team}}', 'red'],
    ['{{identity.entity.metadata.cost.centre}}', '42'],
    ['{{identity.entity.aliases.auth_ldap_1.id}}', 'a-1'],
    ['{{identity.entity.aliases.auth_ldap_1.name}}', 'bob@example.org'],
    ['{{identity.entity.aliases.auth_ldap_1.metadata.name}}', 'bob'],
    ['{{identity.entity.aliases.auth_ldap_1.custom_metadata.site}}', 'north'],
    ['{{identity.groups.ids.g-1.name}}', 'ops.eu'],
    ['{{identity.groups.ids.g-1.metadata.region}}', 'eu'],
    ['{{identity.groups.names.ops.eu.id}}', 'g-1'],
    ['{{identity.groups.names.ops.eu.metadata.region}}', 'eu'],
  ])('%s is %s', (text, value) => {
    expect(fill(`a/${text}/b`)).toBe(`a/${value}/b`);
  });

  test('several are filled in, each in its place', () => {
    expect(fill('{{identity.entity.metadata.team}}/{{identity.entity.name}}/*')).toBe('red/bob/*');
  });

  test.each([
    '{{identity.entity.metadata.none}}',
    '{{identity.entity.metadata.empty}}',
    '{{identity.entity.metadata.__proto__}}',
    '{{identity.entity.metadata.toString}}',
    '{{identity.entity.aliases.other.name}}',
    '{{identity.entity.aliases.constructor.name}}',
    '{{identity.groups.ids.g-2.name}}',
    '{{identity.groups.names.none.id}}',
    '{{identity.entity}}',
    '{{}}',
  ])('%s drops the block', (text) => {
    expect(fill(`a/${text}`)).toBeUndefined();
  });

  test('a caller without an entity has none of it', () => {
    expect(fill('a/{{identity.entity.id}}', strict, { groups: [] } as typeof bob)).toBeUndefined();
    expect(resolveTemplate(parseTemplate('a/{{identity.entity.id}}')!, undefined, strict)).toBeUndefined();
  });

  test('a value that would change the meaning of the path drops the block unless the policy allows it', () => {
    const wild = { allowWildcards: true, allowSlashes: false };
    const slashes = { allowWildcards: false, allowSlashes: true };
    expect(fill('{{identity.entity.metadata.wild}}')).toBeUndefined();
    expect(fill('{{identity.entity.metadata.plus}}')).toBeUndefined();
    expect(fill('{{identity.entity.metadata.path}}')).toBeUndefined();
    expect(fill('{{identity.entity.metadata.wild}}', slashes)).toBeUndefined();
    expect(fill('{{identity.entity.metadata.path}}', wild)).toBeUndefined();
    expect(fill('{{identity.entity.metadata.wild}}', wild)).toBe('a*');
    expect(fill('{{identity.entity.metadata.path}}', slashes)).toBe('a/b');
  });

  test.each(['a/{{', 'a/}}', '{{a}}}}', '{{a {{b}}', '}}{{'])('%s does not pair', (text) => {
    expect(() => parseTemplate(text)).toThrow(TemplateSyntaxError);
  });
});
