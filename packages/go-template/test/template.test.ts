import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createHash, randomBytes } from 'node:crypto';
import type { TemplateData, TemplateEnvironment, TemplateOptions } from '../src/index.ts';
import { TemplateFunctionError, TemplateRenderError, TemplateSyntaxError, compileTemplate, textFunction, utf16le } from '../src/index.ts';

const environment: TemplateEnvironment = { now: () => new Date(1_795_250_515_987), randomBytes };
const render = (source: string, data: TemplateData = {}, options: TemplateOptions = {}): string =>
  compileTemplate(source, options).render(data, environment);

function renderError(run: () => unknown): TemplateRenderError {
  try {
    run();
  } catch (error) {
    if (error instanceof TemplateRenderError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('the usual templates', () => {
  const who = { DisplayName: 'token', RoleName: 'r' };

  test('the user names of PostgreSQL', () => {
    const source =
      '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 8) (.RoleName | truncate 8) (random 20) (unix_time) | truncate 63 }}';
    const template = compileTemplate(source, { fields: ['DisplayName', 'RoleName'] });
    expect(template.render(who, environment)).toMatch(/^v-token-r-[A-Za-z0-9]{20}-1795250515$/);
    const long = template.render({ DisplayName: 'x'.repeat(300), RoleName: 'y'.repeat(300) }, environment);
    expect(long).toMatch(/^v-x{8}-y{8}-[A-Za-z0-9]{20}-1795250515$/);
    expect(template.source).toBe(source);
  });

  test('the user names of Redis', () => {
    const source =
      '{{ printf "V_%s_%s_%s_%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | truncate 100 | replace "-" "_" | uppercase }}';
    expect(render(source, { DisplayName: 'ldap-bob', RoleName: 'app-ro' })).toMatch(/^V_LDAP_BOB_APP_RO_[A-Z0-9]{20}_1795250515$/);
  });

  test('the user names of directories', () => {
    expect(render('v_{{.DisplayName}}_{{.RoleName}}_{{random 10}}_{{unix_time}}', who)).toMatch(/^v_token_r_[A-Za-z0-9]{10}_1795250515$/);
  });

  test('an LDIF for Active Directory, the password in quotes and in UTF-16', () => {
    const source = 'dn: cn={{.Username}},dc=x{{/* secret */ -}}\n\n{{ "\\n" }}unicodePwd::{{ printf "%q" .Password | utf16le | base64 }}\n';
    const text = render(source, { Username: 'bob', Password: 'päss' }, { functions: { utf16le } });
    const [, encoded = ''] = /unicodePwd::(.*)\n/.exec(text) ?? [];
    expect(Buffer.from(encoded, 'base64').toString('utf16le')).toBe('"päss"');
  });

  test('the names of synchronized secrets', () => {
    expect(
      render('VAULT_{{ .MountAccessor | uppercase }}_{{ .SecretKey | uppercase }}', { MountAccessor: 'kv_1234', SecretKey: 'my_secret' }),
    ).toBe('VAULT_KV_1234_MY_SECRET');
  });

  test('the group filter of LDAP has Go’s own functions only', () => {
    const options = { name: 'queryTemplate', builtinsOnly: true };
    const source = '(|(memberUid={{.Username}})(member={{.UserDN}}))';
    expect(render(source, { Username: 'bob', UserDN: 'cn=bob' }, options)).toBe('(|(memberUid=bob)(member=cn=bob))');
    expect(() => compileTemplate('({{.Username', options)).toThrow(new TemplateSyntaxError('queryTemplate', 1, 'unclosed action'));
    expect(() => compileTemplate('{{random 3}}', options)).toThrow('template: queryTemplate:1: function "random" not defined');
  });
});

describe('functions', () => {
  test('random draws each letter and digit equally often', () => {
    let block = 0;
    const seeded = (count: number): Uint8Array => {
      const parts: Buffer[] = [];
      for (let size = 0; size < count; size += 64)
        parts.push(
          createHash('sha512')
            .update(`seed ${(block += 1)}`)
            .digest(),
        );
      return Buffer.concat(parts).subarray(0, count);
    };
    const text = compileTemplate('{{random 62000}}').render({}, { ...environment, randomBytes: seeded });
    const counts = new Map<string, number>();
    for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
    expect(counts.size).toBe(62);
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
    expect(Math.abs(chiSquare - 61)).toBeLessThan(4 * Math.sqrt(2 * 61));
  });

  test('random throws away the bytes that would favour some characters', () => {
    const bytes = (count: number): Uint8Array =>
      Uint8Array.from({ length: count }, (_, index) => (index % 2 === 0 ? 248 + (index % 8) : 247));
    expect(compileTemplate('{{random 4}}').render({}, { ...environment, randomBytes: bytes })).toBe('9999');
  });

  test('a shorter text is unchanged by truncate_sha256, a longer one ends in the hash of what was cut off', () => {
    const hash = createHash('sha256').update('klmnopqrstuvwxyz').digest('hex').slice(0, 8);
    expect(render('{{.A | truncate_sha256 18}}', { A: 'abcdefghijklmnopqrstuvwxyz' })).toBe(`abcdefghij${hash}`);
    expect(render('{{.A | truncate_sha256 26}}', { A: 'abcdefghijklmnopqrstuvwxyz' })).toBe('abcdefghijklmnopqrstuvwxyz');
  });

  test('truncate counts bytes and leaves no piece of a character', () => {
    expect(render('{{.A | truncate 4}}', { A: '日本' })).toBe('日');
    expect(render('{{.A | truncate 5}}', { A: 'a\u{1f600}b' })).toBe('a\u{1f600}');
    expect(render('{{.A | truncate 4}}', { A: 'a\u{1f600}b' })).toBe('a');
  });

  test('uuid uses the environment’s, or makes a random one', () => {
    expect(compileTemplate('{{uuid}}').render({}, { ...environment, uuid: () => 'from outside' })).toBe('from outside');
    expect(render('{{uuid}}')).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(render('{{uuid}}')).not.toBe(render('{{uuid}}'));
  });

  test('the clock is read in milliseconds and in UTC', () => {
    expect(render('{{unix_time}} {{unix_time_millis}} {{timestamp "2006-01-02T15:04:05.000Z07:00 MST"}}')).toBe(
      '1795250515 1795250515987 2026-11-21T08:41:55.987Z UTC',
    );
  });

  test('bytes that are no text survive on the way and become U+FFFD at the end', () => {
    expect(render('{{"fffe00" | decode_hex | base64}}')).toBe(Buffer.from('fffe00', 'hex').toString('base64'));
    expect(render('{{"ff" | decode_hex}}')).toBe('\ufffd');
    expect(render('{{"c3" | decode_hex}}{{"a9" | decode_hex}}')).toBe('\u00e9');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const hex = Buffer.from(bytes).toString('hex');
        expect(render('{{.H | decode_hex | hex}}', { H: hex })).toBe(hex);
      }),
    );
  });

  test.each([
    ['{{decode_base64 "a"}}', 'error calling decode_base64: illegal base64 data'],
    ['{{decode_base64 "a$=="}}', 'error calling decode_base64: illegal base64 data'],
    ['{{decode_hex "zz"}}', 'error calling decode_hex: encoding/hex: invalid byte'],
    ['{{range 1.5}}{{end}}', "range can't iterate over float64"],
    ['{{range "x"}}{{end}}', "range can't iterate over string"],
    ['{{random -1}}', 'error calling random: length must be >= 0 but was -1'],
  ])('%s fails: %s', (source, reason) => {
    expect(renderError(() => render(source)).reason).toBe(reason);
  });

  test('utf16le is known only where it was asked for', () => {
    expect(() => compileTemplate('{{utf16le "x"}}')).toThrow('template: template:1: function "utf16le" not defined');
  });

  test('functions may be added and replaced, and refuse with a reason', () => {
    const functions = {
      shout: textFunction((text) => `${text}!`),
      uppercase: textFunction(() => {
        throw new TemplateFunctionError('not today');
      }),
    };
    expect(render('{{shout "a"}}', {}, { functions })).toBe('a!');
    expect(renderError(() => render('{{uppercase "a"}}', {}, { functions })).message).toBe(
      'template: template:1:2: executing "template" at <uppercase "a">: error calling uppercase: not today',
    );
  });

  test('a failure of the environment passes through', () => {
    const broken = {
      ...environment,
      randomBytes: () => {
        throw new RangeError('no entropy');
      },
    };
    expect(() => compileTemplate('{{random 3}}').render({}, broken)).toThrow(new RangeError('no entropy'));
  });
});

describe('fields', () => {
  test('an unknown one is found when compiling, if the fields are given', () => {
    const options = { fields: ['A'], typeName: 'x.Data' };
    for (const source of [
      '{{.Nope}}',
      '{{$.Nope}}',
      '{{if .A}}{{.Nope}}{{end}}',
      '{{with .A}}{{$.Nope}}{{else}}{{.A}}{{end}}',
      '{{print .A (.Nope | print)}}',
    ]) {
      expect(renderError(() => compileTemplate(source, options)).reason).toBe("can't evaluate field Nope in type x.Data");
    }
    expect(() =>
      compileTemplate('{{with .A}}{{.Inner}}{{end}}{{range .A}}{{.Inner}}{{end}}{{$x := .A}}{{$x.Inner}}', options),
    ).not.toThrow();
  });

  test('otherwise it is found when rendering, and only where it is reached', () => {
    const template = compileTemplate('{{if .A}}{{.Nope}}{{end}}');
    expect(template.render({ A: false }, environment)).toBe('');
    expect(renderError(() => template.render({ A: true }, environment)).message).toBe(
      'template: template:1:11: executing "template" at <.Nope>: can\'t evaluate field Nope',
    );
  });

  test('what objects inherit is no field', () => {
    expect(renderError(() => render('{{.toString}}')).reason).toBe("can't evaluate field toString");
    expect(renderError(() => render('{{.constructor}}')).reason).toBe("can't evaluate field constructor");
    expect(() => compileTemplate('{{toString}}')).toThrow('function "toString" not defined');
    expect(render('{{.__proto__}}', JSON.parse('{"__proto__": "own"}') as TemplateData)).toBe('own');
  });

  test('no message shows the data', () => {
    const secret = 'hunter2';
    for (const source of [
      '{{.P.X}}',
      '{{random .P}}',
      '{{truncate 0 .P}}',
      '{{.P | decode_hex}}',
      '{{range .P}}{{end}}',
      '{{eq .L .L}}',
      '{{.P | decode_base64}}',
      '{{index .P 99}}',
      '{{lt .P 1}}',
      '{{len 1 .P}}',
    ]) {
      expect(renderError(() => render(source, { P: secret, L: [secret] })).message).not.toContain(secret);
    }
  });
});

describe('limits', () => {
  test.each([
    ['output', '{{range .L}}{{$.T}}{{end}}', 'the result is longer than 1000 characters'],
    ['rounds', '{{range 1000000000}}{{end}}', 'more than 50 rounds of range'],
    ['rounds of loops in loops', '{{range 10}}{{range 10}}{{end}}{{end}}', 'more than 50 rounds of range'],
    ['widths', '{{$x := printf "%900000d" 1}}', 'error calling printf: the template makes too much text'],
    ['replacements', '{{$x := replace "" .T .T}}', 'error calling replace: the template makes too much text'],
    ['random', '{{$x := random 100000000}}', 'error calling random: the template makes too much text'],
    ['doubling', '{{$x := .T}}{{range 40}}{{$x = print $x $x}}{{end}}', 'error calling print: the template makes too much text'],
  ])('there is one to %s', (_name, source, reason) => {
    const error = renderError(() => render(source, { L: Array(40).fill(0), T: 'x'.repeat(100) }, { maxOutput: 1000, maxRounds: 50 }));
    expect(error.reason).toBe(reason);
    expect(error.message).toMatch(/^template: template:/);
  });

  test('there is one to nesting, and to the source', () => {
    expect(() => compileTemplate(`{{${'('.repeat(100_000)}`)).toThrow(TemplateSyntaxError);
    expect(() => compileTemplate(`{{${'('.repeat(101)}1${')'.repeat(101)}}}`)).toThrow('nested more than 100 levels deep');
    expect(() => compileTemplate('{{if 1}}'.repeat(20_000))).toThrow('nested more than 100 levels deep');
    expect(() => compileTemplate('x'.repeat(300_000))).toThrow('template: template:1: longer than 262144 characters');
  });

  test('long sources come to an end', () => {
    for (const source of [
      '{{.A}}'.repeat(40_000),
      '\n'.repeat(250_000),
      `{{"${'a'.repeat(250_000)}"}}`,
      `{{${' '.repeat(250_000)}.A}}`,
      '{{- 1 -}} '.repeat(20_000),
    ]) {
      expect(() => compileTemplate(source)).not.toThrow();
    }
  });
});

describe('whatever the source', () => {
  const pieces = fc.constantFrom(
    '{{',
    '}}',
    '{{-',
    ' -}}',
    '.A',
    '$x',
    ':=',
    '=',
    '|',
    '(',
    ')',
    ' ',
    'if ',
    'else',
    'end',
    'range ',
    'with ',
    '"',
    '`',
    "'",
    '\\',
    'printf ',
    '"%d"',
    '1',
    '.5',
    'nil',
    '/*',
    '*/',
    '\n',
    ',',
    '@',
    '\ud800',
    'index ',
    'slice ',
  );
  test('nothing but template errors is thrown', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }).map((text) => `{{${text}}}`),
          fc.array(pieces, { maxLength: 25 }).map((parts) => parts.join('')),
        ),
        (source) => {
          try {
            render(source, { A: ['x', 1, null] });
          } catch (error) {
            if (!(error instanceof TemplateRenderError)) expect(error).toBeInstanceOf(TemplateSyntaxError);
          }
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('nor by printf, whatever the format', () => {
    const formats = fc.array(
      fc.constantFrom(
        '%',
        '+',
        '-',
        '#',
        ' ',
        '0',
        '5',
        '.',
        '*',
        '[1]',
        '[9]',
        '[',
        ']',
        'd',
        's',
        'q',
        'v',
        'x',
        'c',
        'U',
        'f',
        'g',
        'e',
        't',
        'T',
        'é',
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(
        formats,
        fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
        (format, value) => {
          expect(typeof render('{{printf .F .V .V}}', { F: format.join(''), V: value })).toBe('string');
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('text without actions stays as it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('{{')),
        (text) => expect(render(text)).toBe(text),
      ),
    );
  });
});
