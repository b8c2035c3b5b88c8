import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { claimsTemplate, plainTemplate, RESERVED_CLAIMS } from '../../../src/services/oidc/claims-template.ts';
import type { TemplateFacts } from '../../../src/services/oidc/template-selector.ts';

const facts: TemplateFacts = {
  identity: {
    entity: {
      id: 'e-1',
      name: 'ann "the" \\ owner\n',
      metadata: { team: 'red', 'a.b': 'dotted', __proto__x: 'no prototype' },
      aliases: { auth_ldap_1: { id: 'a-1', name: 'ann@corp', metadata: { uid: '7' }, custom_metadata: { desk: '4' } } },
    },
    groups: [
      { id: 'g-1', name: 'ops', metadata: {} },
      { id: 'g-2', name: 'everybody', metadata: {} },
    ],
  },
  now: 1_000,
};
const claims = (template: string): unknown => claimsTemplate(template).claims(facts);

describe('a template of claims', () => {
  test('inserts values of the entity as JSON, with their quotes', () => {
    expect(
      claims(`{
        "id": {{identity.entity.id}}, "name": {{ identity.entity.name }}, "team": {{identity.entity.metadata.team}},
        "dotted": {{identity.entity.metadata.a.b}}, "all": {{identity.entity.metadata}},
        "ids": {{identity.entity.groups.ids}}, "names": {{identity.entity.groups.names}},
        "alias": [{{identity.entity.aliases.auth_ldap_1.id}}, {{identity.entity.aliases.auth_ldap_1.name}}],
        "uid": {{identity.entity.aliases.auth_ldap_1.metadata.uid}}, "desk": {{identity.entity.aliases.auth_ldap_1.custom_metadata}}
      }`),
    ).toEqual({
      id: 'e-1',
      name: 'ann "the" \\ owner\n',
      team: 'red',
      dotted: 'dotted',
      all: facts.identity.entity.metadata,
      ids: ['g-1', 'g-2'],
      names: ['ops', 'everybody'],
      alias: ['a-1', 'ann@corp'],
      uid: '7',
      desk: { desk: '4' },
    });
  });

  test('gives an empty text for what the entity does not have, and an empty object for all of it', () => {
    expect(
      claims(`{"a": {{identity.entity.metadata.none}}, "b": {{identity.entity.metadata.toString}}, "c": {{identity.entity.aliases.other.name}},
        "d": {{identity.entity.aliases.other.metadata}}, "e": {{identity.entity.aliases.constructor.id}}}`),
    ).toEqual({ a: '', b: '', c: '', d: {}, e: '' });
  });

  test('tells the time as a number, alone or within a text', () => {
    expect(
      claims('{"now": {{time.now}}, "later": {{time.now.plus.1h30m}}, "before": {{time.now.minus.1m}}, "text": "at {{time.now}}."}'),
    ).toEqual({ now: 1_000, later: 6_400, before: 940, text: 'at 1000.' });
  });

  test('keeps everything else as JSON has it, nested braces too', () => {
    expect(claims('{"a":{"b":{"c":{{identity.entity.id}}}},"l":[1,-2.5e3,true,false,null,[],{}],"s":"\\u00e9\\n}} {"}')).toEqual({
      a: { b: { c: 'e-1' } },
      l: [1, -2_500, true, false, null, [], {}],
      s: 'é\n}} {',
    });
    expect(claims('')).toEqual({});
    expect(claims(' { } ')).toEqual({});
  });

  test('may come in base64', () => {
    const template = '{"a": {{identity.entity.id}}}';
    expect(plainTemplate(Buffer.from(template).toString('base64'))).toBe(template);
    expect(plainTemplate(template)).toBe(template);
  });

  for (const [template, problem] of [
    ['{ not json', 'expected a key in quotes, at character 3'],
    ['[1]', 'a template is a JSON object, at character 1'],
    ['{{identity.entity.metadata}}', 'a template is a JSON object, at character 1'],
    ['{"a": 1} x', 'nothing may follow the closing brace, at character 10'],
    ['{"a" 1}', 'expected a colon after the key, at character 6'],
    ['{"a": 1 "b": 2}', 'expected a comma or a closing brace, at character 9'],
    ['{"a": [1 2]}', 'expected a comma or a closing bracket, at character 10'],
    ['{"a": }', 'expected a value, at character 7'],
    ['{"a": 01}', 'expected a comma or a closing brace, at character 8'],
    ['{"a": 1e999}', 'the number is too large, at character 12'],
    ['{"a": "b}', 'the text has no closing quote, or holds what JSON wants escaped, at character 7'],
    ['{"a": "\\x"}', 'the text has an escape that JSON does not know, at character 11'],
    ['{"a": {{identity.entity.id}', 'the braces do not pair, at character 7'],
    ['{"a": "{{time.now"}', 'the braces do not pair, at character 19'],
    ['{"{{identity.entity.name}}": 1}', 'a key cannot be filled in, at character 30'],
    ['{"a": "{{identity.entity.name}}"}', '{{identity.entity.name}} brings its own quotes: leave out those around it, at character 33'],
    [`{"a": ${'['.repeat(40)}${']'.repeat(40)}}`, 'it is nested more than 32 deep, at character 39'],
  ] as const) {
    test(`is refused where the JSON is wrong: ${template.slice(0, 40)}`, () => {
      expect(() => claimsTemplate(template)).toThrow(`error parsing template JSON: ${problem}`);
    });
  }

  test('is refused where it names what no entity has', () => {
    expect(() => claimsTemplate('{"a": {{identity.entity.email}}}')).toThrow(
      'error parsing template: {{identity.entity.email}} is not known',
    );
    expect(() => claimsTemplate('{"a": {{identity.entity.aliases.x.other}}}')).toThrow('is not known');
    expect(() => claimsTemplate('{"a": {{time.now.plus.soon}}}')).toThrow('"soon" is not a duration');
  });

  test('is refused where it sets a claim of the server', () => {
    for (const name of RESERVED_CLAIMS) {
      expect(() => claimsTemplate(`{"x": 1, ${JSON.stringify(name)}: 2}`)).toThrow(
        `top level key "${name}" not allowed. Restricted keys: iat, aud,`,
      );
      expect(claims(`{"x": {${JSON.stringify(name)}: 2}}`)).toEqual({ x: { [name]: 2 } });
    }
    expect(() => claimsTemplate('{"\\u0073ub": 1}')).toThrow('top level key "sub" not allowed');
  });
});

/** Texts that are near to templates: pieces of JSON and selectors in any order. */
const nearly = fc
  .array(
    fc.constantFrom(
      ...['{', '}', '[', ']', ':', ',', '"', '\\', ' ', '{{', '}}', '1', 'true', 'null', '"a"', '"sub"', '"iss":', '"b": '],
      ...['{{identity.entity.name}}', '{{identity.entity.metadata}}', '{{time.now}}', '{{identity.entity.groups.names}}', '"{{time.now}}"'],
    ),
    { maxLength: 24 },
  )
  .map((pieces) => `{${pieces.join('')}}`);

const selectors = fc.constantFrom(
  ...['identity.entity.id', 'identity.entity.name', 'identity.entity.metadata', 'identity.entity.metadata.k'],
  ...['identity.entity.groups.names', 'identity.entity.aliases.acc.name', 'identity.entity.aliases.acc.metadata.k', 'time.now'],
);

/** Templates: JSON with selectors in places of values. */
const template = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 0 }).map((value) => JSON.stringify(value).replaceAll('{{', '{')),
    selectors.map((one) => `{{${one}}}`),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    tie('object'),
  ),
  object: fc
    .array(
      fc.tuple(
        fc.string().map((key) => JSON.stringify(key.replaceAll('{{', '{'))),
        tie('value'),
      ),
      { maxLength: 4 },
    )
    .map((members) => `{${members.map(([key, value]) => `${key}: ${value}`).join(',')} }`),
})).object;

const anyText = fc.string({ unit: 'binary' });
const anyFacts: fc.Arbitrary<TemplateFacts> = fc.record({
  identity: fc.record({
    entity: fc.record({
      id: fc.uuid(),
      name: anyText,
      metadata: fc.dictionary(fc.oneof(fc.constantFrom('k', '__proto__', 'sub'), anyText), anyText, { maxKeys: 3 }),
      aliases: fc.constant({ acc: { id: 'a', name: 'n", "sub": "x', metadata: { k: '}}' }, custom_metadata: {} } }),
    }),
    groups: fc.array(fc.record({ id: anyText, name: anyText, metadata: fc.constant({}) }), { maxLength: 3 }),
  }),
  now: fc.integer({ min: 0, max: 4_000_000_000 }),
});

describe('whatever a template says and whatever the entity holds', () => {
  const sound = (text: string, filling: TemplateFacts): boolean => {
    let parsed: ReturnType<typeof claimsTemplate>;
    try {
      parsed = claimsTemplate(text);
    } catch (error) {
      expect((error as { status?: number }).status).toBe(400);
      return false;
    }
    const made = parsed.claims(filling);
    const read = JSON.parse(JSON.stringify(made)) as object;
    // The claims are those that the template names, whatever the values are.
    expect(Object.keys(read).sort()).toEqual([...parsed.names].sort());
    for (const name of RESERVED_CLAIMS) expect(Object.hasOwn(read, name)).toBe(false);
    return true;
  };

  test('what is taken gives JSON, and no claim of the server', () => {
    let taken = 0;
    fc.assert(
      fc.property(template, anyFacts, (text, filling) => {
        if (sound(text, filling)) taken += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(taken).toBeGreaterThan(500);
  });

  test('what is nearly a template is refused as the mistake of whoever sent it, or is sound', () => {
    fc.assert(
      fc.property(fc.oneof(nearly, anyText), anyFacts, (text, filling) => {
        sound(text, filling);
      }),
      { numRuns: 2_000 },
    );
  });
});
