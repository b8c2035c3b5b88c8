import { describe, expect, test } from '@jest/globals';
import { connectionSecrets, visibleConnection } from '@strongroom/database-sdk';
import { parseConnectionString } from '../src/connection-string.ts';
import { MysqlConnection } from '../src/index.ts';

const values = { username: 'us:er@x', password: 'p@ss/w:rd?a=b' };
const tcp = (host: string, port = 3306) => ({ host, port });

describe('connection_url', () => {
  test.each([
    ['{{username}}:{{password}}@tcp(db:3307)/app', [tcp('db', 3307)], 'app'],
    ['{{username}}:{{password}}@tcp(a,b:1,[::1]:2)/', [tcp('a'), tcp('b', 1), tcp('::1', 2)], undefined],
    ['{{username}}:{{password}}@tcp(db)/?tls=true', [tcp('db')], undefined],
    ['{{username}}:{{password}}@tcp/app', [tcp('127.0.0.1')], 'app'],
    ['{{username}}:{{password}}@/app', [tcp('127.0.0.1')], 'app'],
    ['tcp(db)/a%20b', [tcp('db')], 'a b'],
    ['{{username}}:{{password}}@unix(/run/mysqld/mysqld.sock)/app', [{ socketPath: '/run/mysqld/mysqld.sock' }], 'app'],
    ['mysql://{{username}}:{{password}}@db:3307,other/app?tls=false', [tcp('db', 3307), tcp('other')], 'app'],
    ['mariadb://db', [tcp('db')], undefined],
  ])('%s', (template, addresses, database) => {
    const target = parseConnectionString(template, values);
    expect(target).toMatchObject({ addresses, database, user: values.username, password: values.password });
  });

  test('a user name and password that stand in it win, whatever they hold', () => {
    expect(parseConnectionString('me:a:b@c/d@tcp(db)/', values)).toMatchObject({ user: 'me', password: 'a:b@c/d' });
    expect(parseConnectionString('me:@tcp(db)/', values)).toMatchObject({ user: 'me', password: '' });
    expect(parseConnectionString('mysql://m%40e:a%2Fb@db/', values)).toMatchObject({ user: 'm@e', password: 'a/b' });
  });

  test('disable_escaping takes values of a URL as percent-encoded already; a DSN has nothing to escape', () => {
    const encoded = { username: encodeURIComponent(values.username), password: encodeURIComponent(values.password) };
    const read = (url: string, given = encoded) => parseConnectionString(url, { ...given, disable_escaping: true });
    expect(read('mysql://{{username}}:{{password}}@db/')).toMatchObject({ user: values.username, password: values.password });
    expect(read('{{username}}:{{password}}@tcp(db)/', values)).toMatchObject({ user: values.username, password: values.password });
    expect(() => read('mysql://{{username}}:{{password}}@db/', { username: 'u', password: '100%' })).toThrow(
      /^unable to parse connection url: it must be like {{username}}:.*:3306\/$/,
    );
    const odd = { username: 'u', password: 'a{{username}}b' };
    expect(read('mysql://{{username}}:{{password}}@db/', odd)).toMatchObject({ password: odd.password });
  });

  test('parameters are decoded', () => {
    const { parameters } = parseConnectionString('tcp(db)/?sql_mode=%27A%2CB%27&loc=US%2FPacific&a=b+c', values);
    expect([...parameters]).toEqual([
      ['sql_mode', `'A,B'`],
      ['loc', 'US/Pacific'],
      ['a', 'b c'],
    ]);
  });

  test.each([
    'u:Sesame-77@tcp(db:3306)/app',
    'u:Sesame-77@tcp(a:1,b:2)/?tls=true&timeout=5s',
    'u:Sesame-77@unix(/run/mysqld/mysqld.sock)/',
    'u:Sesame-77@/app',
    'u:Sesame-77@tcp(db)/app?password=Sesame-77',
    'u:Sesame-77/@:?x@tcp(db:3306)/',
    'mysql://u:Sesame-77@db:3306/app',
    'mysql://u:Sesame%2D77@db:3306/app',
    'u:Sesame-77@tcp(db:3306)',
    'u:Sesame-77@broken(((',
  ])('no read shows the password of %s, and no message can', (connection_url) => {
    const details = { connection_url, username: 'u', password: 'Open-77-Sesame', tls_certificate_key: 'Key-77', tls_ca: 'public' };
    const shown = visibleConnection(MysqlConnection, details);
    expect(JSON.stringify(shown)).not.toMatch(/Sesame|Key-77/);
    expect(Object.keys(shown).sort()).toEqual(['connection_url', 'tls_ca', 'username']);
    expect(shown['connection_url']).toContain(connection_url.startsWith('mysql') ? 'mysql://u:xxxxx@' : 'u:xxxxx@');
    expect(Object.values(connectionSecrets(MysqlConnection, details)).join()).toContain('Sesame-77');
  });

  test('a template is shown as it is', () => {
    const connection_url = '{{username}}:{{password}}@tcp(db:3306)/';
    expect(visibleConnection(MysqlConnection, { connection_url })).toEqual({ connection_url });
  });
});
