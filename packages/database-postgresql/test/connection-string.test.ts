import { describe, expect, test } from '@jest/globals';
import { parseConnectionString } from '../src/connection-string.ts';
import { parseSslMode, pemOf, tlsChoices } from '../src/tls.ts';

describe('connection strings', () => {
  test('a URL gives host, port, user, password, database and parameters, percent-decoded', () => {
    const target = parseConnectionString('postgresql://us%40er:p%2Fw%3A@db.example:5433/my%20db?sslmode=require&search_path=a%2Cb');
    expect(target).toMatchObject({ addresses: [{ host: 'db.example', port: 5433 }], user: 'us@er', password: 'p/w:', database: 'my db' });
    expect(Object.fromEntries(target.parameters)).toEqual({ sslmode: 'require', search_path: 'a,b' });
  });

  test('an unescaped @ in the password of a URL is taken as part of it', () => {
    expect(parseConnectionString('postgres://u:p@w@h/db')).toMatchObject({
      user: 'u',
      password: 'p@w',
      addresses: [{ host: 'h', port: 5432 }],
    });
  });

  test('several hosts, IPv6 and Unix sockets are understood', () => {
    expect(parseConnectionString('postgresql://u@a:1,b:2/d').addresses).toEqual([
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ]);
    expect(parseConnectionString('postgresql://[::1]:9/d').addresses).toEqual([{ host: '::1', port: 9 }]);
    expect(parseConnectionString('postgresql://%2Frun%2Fpg/d').addresses).toEqual([{ host: '/run/pg', port: 5432 }]);
    expect(parseConnectionString('postgresql:///d?host=/run/pg&port=7').addresses).toEqual([{ host: '/run/pg', port: 7 }]);
  });

  test('a keyword string is read as libpq reads it', () => {
    expect(parseConnectionString(`host=a,b port=7 user = me password='it\\'s \\\\ x' dbname=d sslmode=disable`)).toMatchObject({
      addresses: [
        { host: 'a', port: 7 },
        { host: 'b', port: 7 },
      ],
      user: 'me',
      password: `it's \\ x`,
      database: 'd',
    });
  });

  test.each([
    '',
    '   ',
    'postgresql://h:0/',
    'postgresql://h:99999/',
    'postgresql://h/%zz',
    'host',
    `host='a`,
    'postgresql://a:1,b:2,c/?port=1,2',
    'mysql://u:geheim@h/',
  ])('%j is refused without being repeated', (text) => {
    expect(() => parseConnectionString(text)).toThrow(
      expect.objectContaining({ code: 'configuration_invalid', message: expect.not.stringContaining('geheim') }),
    );
  });
});

describe('sslmode', () => {
  const none = {};

  test('is prefer by default, and verify-full once an authority is given', () => {
    expect(parseSslMode(undefined, none)).toBe('prefer');
    expect(parseSslMode(undefined, { tls_ca: 'x' })).toBe('verify-full');
    expect(() => parseSslMode('zz', none)).toThrow('sslmode must be one of');
    expect(() => parseSslMode('disable', { tls_ca: 'x' })).toThrow('contradicts');
  });

  test('prefer tries TLS and then plain text, the stricter ones only TLS', () => {
    expect(tlsChoices('prefer', 'h', none).map(Boolean)).toEqual([true, false]);
    expect(tlsChoices('allow', 'h', none).map(Boolean)).toEqual([false, true]);
    expect(tlsChoices('disable', 'h', none)).toEqual([false]);
    expect(tlsChoices('verify-full', '/run/pg', none)).toEqual([false]);
    expect(tlsChoices('require', 'h', none)).toEqual([expect.objectContaining({ rejectUnauthorized: false })]);
    expect(tlsChoices('verify-ca', 'h', none)).toEqual([expect.objectContaining({ rejectUnauthorized: true })]);
  });

  test('unusable PEM is refused by name', () => {
    expect(() => pemOf({ tls_ca: 'x' })).toThrow('tls_ca is not usable PEM');
    expect(() => pemOf({ tls_certificate: 'x' })).toThrow('must be given together');
    expect(() => pemOf({ tls_certificate: 'x', private_key: 'y' })).toThrow('tls_certificate is not usable PEM');
  });
});
