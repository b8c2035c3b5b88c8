import { describe, expect, test } from '@jest/globals';
import { BadRequest } from '@strongroom/engine-sdk';
import fc from 'fast-check';
import { capabilityNames } from '../../../src/services/policies/capability.ts';
import { parsePolicy } from '../../../src/services/policies/policy.ts';

function fault(text: string): string {
  try {
    parsePolicy('p', text);
  } catch (error) {
    expect(error).toBeInstanceOf(BadRequest);
    return (error as BadRequest).message;
  }
  throw new Error('the policy was accepted');
}

const rule = (text: string) => parsePolicy('p', text).rules[0]!;

describe('reading a policy', () => {
  test('HCL, JSON and base64 of either give the same rules', () => {
    const hcl = 'path "/secret/*" { capabilities = ["read", "list"] }';
    const json = '{"path": {"secret/*": {"capabilities": ["read", "list"]}}}';
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const rules = [hcl, json, base64(hcl), base64(json)].map((text) => parsePolicy('p', text).rules);
    const meant = rules.map((some) => some.map((rule) => ({ ...rule, line: 0, column: 0 })));
    for (const other of meant) expect(other).toEqual(meant[0]);
    expect(rules[0]![0]).toMatchObject({ path: 'secret/*', capabilities: 4 | 64 });
    expect(parsePolicy('p', base64(hcl)).text).toBe(hcl);
  });

  test('JSON may list its paths', () => {
    const policy = parsePolicy('p', '{"path": [{"a": {"capabilities": ["read"]}}, {"b": {"capabilities": ["deny"]}}]}');
    expect(policy.rules.map(({ path }) => path)).toEqual(['a', 'b']);
  });

  test('a text without paths is a policy that allows nothing', () => {
    expect(parsePolicy('p', '# nothing yet').rules).toEqual([]);
    expect(parsePolicy('p', '{"path": {}}').rules).toEqual([]);
    expect(parsePolicy('p', 'name = "other"').name).toBe('p');
  });

  test.each([
    ['read', ['list', 'read']],
    ['write', ['create', 'delete', 'list', 'read', 'update']],
    ['sudo', ['create', 'delete', 'list', 'read', 'sudo', 'update']],
    ['deny', ['deny']],
  ])('the old form policy = "%s" stands for its capabilities', (old, capabilities) => {
    expect(capabilityNames(rule(`path "a" { policy = "${old}" }`).capabilities)).toEqual(capabilities);
  });

  test('deny among other capabilities leaves only deny', () => {
    expect(capabilityNames(rule('path "a" { capabilities = ["read", "deny", "sudo"] }').capabilities)).toEqual(['deny']);
  });

  test('every key of a block is read', () => {
    const text = `path "a" {
      capabilities = ["create"]
      allowed_parameters = { "Foo" = ["x", 5, true], "*" = [] }
      denied_parameters { bar = [] }
      required_parameters = ["Foo", "foo"]
      min_wrapping_ttl = "1m"
      max_wrapping_ttl = 3600
      pagination_limit = 100
      list_scan_response_keys_filter_path = "{{ .path }}{{ .key }}"
      expiration = "2030-01-02T03:04:05Z"
      comment = "why"
    }`;
    expect(rule(text)).toMatchObject({
      allowedParameters: new Map<string, unknown>([
        ['foo', ['x', 5, true]],
        ['*', []],
      ]),
      deniedParameters: new Map([['bar', []]]),
      requiredParameters: ['foo'],
      minWrappingTtl: 60,
      maxWrappingTtl: 3600,
      paginationLimit: 100,
      keysFilter: { source: '{{ .path }}{{ .key }}' },
      expiration: Date.parse('2030-01-02T03:04:05Z'),
      comment: 'why',
    });
  });

  test('lists and objects are values of a parameter in JSON as in HCL', () => {
    const json = rule('{"path": {"a": {"capabilities": ["update"], "allowed_parameters": {"x": [{"y": 1}], "z": [["q"]]}}}}');
    const hcl = rule('path "a" { capabilities = ["update"]\n allowed_parameters = { x = [{ y = 1 }], z = [["q"]] } }');
    expect(json.allowedParameters).toEqual(hcl.allowedParameters);
    expect(json.allowedParameters).toEqual(
      new Map<string, unknown>([
        ['x', [{ y: 1 }]],
        ['z', [['q']]],
      ]),
    );
  });

  test.each(['mfa_methods = ["x"]', 'mfa_methods = "x"', 'control_group = { factor "ops" { identity { approvals = 1 } } }'])(
    'a block that asks for what no caller can have denies its path, and says so: %s',
    (asked) => {
      const { rules, notices } = parsePolicy('p', `path "a" { capabilities = ["read", "list"]\n ${asked} }`);
      expect(rules.map(({ capabilities }) => capabilityNames(capabilities))).toEqual([['deny']]);
      const [key] = asked.split(' ');
      expect(notices).toEqual([`path "a": this server does not support ${key!}, so that this block denies its path`]);
    },
  );

  test.each(['mfa_methods = []', 'control_group = {}'])('a block that asks for nothing grants what it says: %s', (asked) => {
    const { rules, notices } = parsePolicy('p', `path "a" { capabilities = ["read"]\n ${asked} }`);
    expect([capabilityNames(rules[0]!.capabilities), notices]).toEqual([['read'], []]);
  });

  test('a block that cannot apply to any caller says so', () => {
    expect(parsePolicy('p', 'path "a/{{identity.nobody}}" { capabilities = ["read"] }').notices).toEqual([
      'path "a/{{identity.nobody}}": "identity.nobody" names nothing known, so that this block never applies',
    ]);
  });
});

describe('a policy that cannot be read', () => {
  test.each([
    ['path "x" { capabilities = ["zz"] }', 'failed to parse policy: path "x": invalid capability "zz"'],
    ['path "x" { capabilities = ["deny", "zz"] }', 'failed to parse policy: path "x": invalid capability "zz"'],
    ['path "x" { policy = "y" }', 'failed to parse policy: path "x": invalid policy "y"'],
    ['paths "x" { capabilities = ["read"] }', 'failed to parse policy: 1 error occurred:\n\t* invalid key "paths" on line 0\n\n'],
    ['{"paths": {}}', 'failed to parse policy: 1 error occurred:\n\t* invalid key "paths" on line 0\n\n'],
    ['path "a" { foo = 1 }', 'failed to parse policy: 1 error occurred:\n\t* path "a": invalid key "foo" on line 1\n\n'],
    [
      'path "a" {\n foo = 1\n bar = 2\n}',
      'failed to parse policy: 2 errors occurred:\n\t* path "a": invalid key "foo" on line 2\n\t* path "a": invalid key "bar" on line 3\n\n',
    ],
    ['path "a/+*" {}', `failed to parse policy: path "a/+*": invalid use of wildcards ('+*' is forbidden)`],
    [
      'path "a" { min_wrapping_ttl = "zz" }',
      'failed to parse policy: path "a": error parsing min_wrapping_ttl: time: invalid duration "zz"',
    ],
    [
      'path "a" { min_wrapping_ttl = 9\n max_wrapping_ttl = 8 }',
      'failed to parse policy: path "a": max_wrapping_ttl cannot be less than min_wrapping_ttl',
    ],
    ['path "a" { capabilities = "read" }', 'failed to parse policy: path "a": capabilities must be a list of strings'],
    [
      'path "a" { list_scan_response_keys_filter_path = "{{ .path }" }',
      'failed to parse policy: path "a": error parsing list_scan_response_keys_filter_path: template: path:1: unexpected "}" in operand',
    ],
    [
      'path "a" { list_scan_response_keys_filter_path = "{{ .path }}{{ .name }}" }',
      'failed to parse policy: path "a": error parsing list_scan_response_keys_filter_path: template: path:1:14: executing "path" at <.name>: can\'t evaluate field name',
    ],
    [
      'path "a" { list_scan_response_keys_filter_path = "{{ identity.entity.id }}" }',
      'failed to parse policy: path "a": error parsing list_scan_response_keys_filter_path: template: path:1: function "identity" not defined',
    ],
    [
      'path "a" { list_scan_response_keys_filter_path = "{{ .path }}{{ random 3 }}" }',
      'failed to parse policy: path "a": error parsing list_scan_response_keys_filter_path: a path of a key cannot depend on the time or on chance',
    ],
    [
      'path "a" { pagination_limit = -1 }',
      'failed to parse policy: path "a": pagination_limit must be a whole number that is not negative',
    ],
    [
      'path "a" { allowed_parameters = ["x"] }',
      'failed to parse policy: path "a": allowed_parameters must map each parameter to a list of values',
    ],
    [
      'path "a" { allowed_parameters = { x = "y" } }',
      'failed to parse policy: path "a": allowed_parameters must map each parameter to a list of values; "x" has something else',
    ],
    ['path "a/{{identity.entity.id" {}', 'failed to parse policy: failed to validate policy templating: unbalanced templating characters'],
    ['path { capabilities = ["read"] }', 'failed to parse policy: a path block names no path'],
    ['path "a" "b" {}', 'failed to parse policy: path "a": expected one block of keys after the path'],
  ])('%s', (text, message) => {
    expect(fault(text)).toBe(message);
  });

  test('names the place of a syntax error', () => {
    expect(fault('path "a" {\n capabilities = [ }')).toMatch(/^failed to parse policy: At 2:/);
    expect(fault('path "a" { capabilities = ["read"]\n capabilities = ["list"] }')).toContain('was already set');
  });

  test('whatever the text, the answer is a policy or a BadRequest', () => {
    const word = fc.constantFrom(
      'path',
      '"a"',
      '{',
      '}',
      '=',
      '[',
      ']',
      '"read"',
      'capabilities',
      '1',
      '\n',
      ',',
      'allowed_parameters',
      '{{',
      'null',
      ':',
    );
    const noise = fc.oneof(
      fc.string(),
      fc.array(word).map((words) => words.join(' ')),
    );
    fc.assert(
      fc.property(noise, (text) => {
        try {
          parsePolicy('p', text);
        } catch (error) {
          expect(error).toBeInstanceOf(BadRequest);
        }
      }),
      { numRuns: 500 },
    );
  });
});
