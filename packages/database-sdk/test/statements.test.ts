import { describe, expect, test } from '@jest/globals';
import {
  decodeStatementElement,
  influxqlDialect,
  mssqlDialect,
  mysqlDialect,
  postgresqlDialect,
  renderJsonStatement,
  renderStatements,
  splitStatements,
  StatementInvalid,
} from '../src/index.ts';

const pg = (commands: string[], values = {}) => renderStatements(commands, values, postgresqlDialect);

describe('splitting', () => {
  test('an element is split on semicolons, trimmed, and empty statements are dropped', () => {
    expect(pg(['  a ;; b;\n c ; ', '', ' ; '])).toEqual(['a', 'b', 'c']);
  });

  test('a semicolon inside quotes, dollar quotes or comments does not split', () => {
    const statements = [
      `select 'a;b''c;d'`,
      `select "x;""y"`,
      `select E'it\\'s; fine'`,
      'do $$ begin; x; $$',
      'do $a$ $b$; $$; $a$',
      'select 1 -- one; two\n+ 2',
      'select /* a; /* b; */ c; */ 3',
    ];
    expect(pg([statements.join(';')])).toEqual(statements);
  });

  test('a dollar sign inside a name opens no quote', () => {
    expect(pg(['select a$1$; select b$1$'])).toEqual(['select a$1$', 'select b$1$']);
  });

  test('an element with the word END runs whole, one with a word that merely contains it does not', () => {
    expect(pg(['create procedure p() begin atomic; select 1; end; '])).toEqual(['create procedure p() begin atomic; select 1; end;']);
    expect(pg(['grant select on vendors to x; grant select on backend to x'])).toHaveLength(2);
    expect(pg([`select 'the end'; select 2`])).toHaveLength(2);
  });

  test('an element may be a JSON array, base64, or base64 of a JSON array', () => {
    const list = JSON.stringify(['a;b', 'c']);
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    expect(pg([list])).toEqual(['a', 'b', 'c']);
    expect(pg([base64('select 1; select 2')])).toEqual(['select 1', 'select 2']);
    expect(pg([base64(list)])).toEqual(['a', 'b', 'c']);
  });

  test('a statement that happens to look like base64 or JSON stays itself', () => {
    expect(decodeStatementElement('DROP')).toEqual(['DROP']);
    expect(decodeStatementElement('ROLLBACK')).toEqual(['ROLLBACK']);
    expect(renderStatements(['[dbo].[proc] 1'], {}, mssqlDialect)).toEqual(['[dbo].[proc] 1']);
  });

  test.each([`select 'a`, 'select "a', 'do $x$ a $$', 'select /* a'])('%s is refused, because its quote does not end', (statement) => {
    expect(() => pg([statement])).toThrow(StatementInvalid);
  });

  test('comments alone are no statement', () => {
    expect(pg(['-- nothing', 'select 1; -- done'])).toEqual(['select 1']);
  });
});

describe('placeholders', () => {
  const values = { name: 'n', username: 'u', password: 'p', expiration: 'e' };

  test('are replaced by name', () => {
    expect(pg([`a "{{name}}" '{{password}}' '{{expiration}}' {{username}}`], values)).toEqual([`a "n" 'p' 'e' u`]);
  });

  test.each(['{{pasword}}', '{{ password }}', '{{Name}}'])(
    '%s, which is misspelt, is refused: sent as it stands it would be a password that everybody knows',
    (text) => {
      expect(() => pg([`CREATE USER "{{name}}" PASSWORD '${text}'`], values)).toThrow(
        `a statement uses ${text}, which is none of {{name}}`,
      );
      expect(() => pg([`DO $$ x '${text}' $$`], values)).toThrow(StatementInvalid);
      expect(pg([`select 1 -- ${text}`], values)).toEqual([`select 1 -- ${text}`]);
    },
  );

  test('other braces are unchanged', () => {
    expect(pg([`select '{{1,2},{3,4}}', '{{a,b}}', '{{}}'`], values)).toEqual([`select '{{1,2},{3,4}}', '{{a,b}}', '{{}}'`]);
  });

  test('a password without quotes is refused, whatever it is: databases quote pieces of it in errors', () => {
    expect(() => pg(['CREATE USER {{name}} PASSWORD {{password}}'], values)).toThrow(
      /^\{\{password\}\} must stand in quotes in a statement$/,
    );
  });

  test('without a value are refused rather than sent as they stand', () => {
    expect(() => pg([`CREATE ROLE x PASSWORD '{{password}}'`], { name: 'x' })).toThrow('{{password}}');
  });

  test('are not looked for in the values', () => {
    expect(pg([`'{{password}}' "{{name}}"`], { name: 'n', password: '{{name}}' })).toEqual([`'{{name}}' "n"`]);
  });

  test('splitStatements shows statements with their placeholders', () => {
    expect(splitStatements([`a "{{name}}"; b`], postgresqlDialect)).toEqual(['a "{{name}}"', 'b']);
  });
});

describe('a value cannot leave its quotes', () => {
  const hostile = `x'"\`]\\; DROP ROLE root; --`;

  test('in PostgreSQL', () => {
    expect(pg([`"{{name}}" '{{name}}' E'{{name}}'`], { name: `a'b"c\\` })).toEqual([`"a'b""c\\" 'a''b"c\\' E'a''b"c\\\\'`]);
  });

  test('in MySQL, SQL Server and InfluxQL', () => {
    expect(renderStatements(["'{{name}}' `{{name}}`"], { name: `a'b\\\`` }, mysqlDialect)).toEqual(["'a''b\\\\`' `a'b\\```"]);
    expect(renderStatements([`[{{name}}] N'{{name}}'`], { name: `a]b'` }, mssqlDialect)).toEqual([`[a]]b'] N'a]b'''`]);
    expect(renderStatements([`"{{name}}" '{{name}}'`], { name: `a"'\\` }, influxqlDialect)).toEqual([`"a\\"'\\\\" 'a"\\'\\\\'`]);
  });

  test.each([`CREATE ROLE {{name}}`, 'DO $$ CREATE ROLE "{{name}}" $$', '-- {{name}}\nselect 1', '/* {{name}} */ select 1'])(
    'where nothing can be escaped it is refused: %s',
    (statement) => {
      expect(() => pg([statement], { name: hostile })).toThrow(StatementInvalid);
      expect(() => pg([statement], { name: 'x SUPERUSER' })).toThrow(StatementInvalid);
      expect(() => pg([statement], { name: 'x--' })).toThrow(StatementInvalid);
      expect(pg([statement], { name: 'v-token-app-1' })[0]).toContain('v-token-app-1');
    },
  );

  test('an expiration fits into a dollar-quoted body', () => {
    expect(pg([`DO $$ x '{{expiration}}' $$`], { expiration: '2030-01-01 00:00:00+0000' })).toEqual([
      `DO $$ x '2030-01-01 00:00:00+0000' $$`,
    ]);
  });

  test('a NUL is refused everywhere, and the refusal does not repeat the value', () => {
    expect(() => pg([`'{{password}}'`], { password: 'geheim\0' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('geheim') }),
    );
  });
});

describe('JSON statements', () => {
  test('values are put into strings after parsing, so they cannot become structure', () => {
    expect(renderJsonStatement('{"user":"{{name}}","n":[1,"p={{password}}",null,true]}', { name: 'a","admin":"b', password: '"' })).toEqual(
      {
        user: 'a","admin":"b',
        n: [1, 'p="', null, true],
      },
    );
  });

  test('what is not JSON is refused', () => {
    expect(() => renderJsonStatement('{', {})).toThrow('not valid JSON');
  });
});
